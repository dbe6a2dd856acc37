"""Largest difference between g(x) U_mu(x) g(x+mu)^dagger and fixed links, with nothing of plaq.
Usage: rotate_links.py G U FIXED X Y Z T; G: raw little-endian doubles [t][z][y][x][row][column][re, im]; U, FIXED: ILDG files of 64 bits"""
import struct, sys

def complexes(data, order):
    r = struct.unpack(f'{order}{len(data) // 8}d', data)
    return [complex(a, b) for a, b in zip(r[::2], r[1::2])]

def links(path):
    f, at = open(path, 'rb').read(), 0
    while at < len(f):
        n = struct.unpack('>Q', f[at + 8:at + 16])[0]
        if f[at + 16:at + 144].rstrip(b'\0') == b'ildg-binary-data':
            return complexes(f[at + 144:at + 144 + n], '>')
        at += 144 + (n + 7) // 8 * 8

def product(a, b):
    return [sum(a[3 * i + k] * b[3 * k + j] for k in range(3)) for i in range(3) for j in range(3)]

g = complexes(open(sys.argv[1], 'rb').read(), '<')
u, fixed = links(sys.argv[2]), links(sys.argv[3])
L = [int(n) for n in sys.argv[4:8]]
number = lambda x: x[0] + L[0] * (x[1] + L[1] * (x[2] + L[2] * x[3]))
worst = 0
for x in ([i, j, k, t] for t in range(L[3]) for k in range(L[2]) for j in range(L[1]) for i in range(L[0])):
    here = g[9 * number(x):9 * number(x) + 9]
    for mu in range(4):
        y = [(c + (d == mu)) % L[d] for d, c in enumerate(x)]
        there = g[9 * number(y):9 * number(y) + 9]
        dagger = [there[3 * (k % 3) + k // 3].conjugate() for k in range(9)]
        at = 9 * (4 * number(x) + mu)
        made = product(product(here, u[at:at + 9]), dagger)
        worst = max(worst, max(abs(a - b) for a, b in zip(made, fixed[at:at + 9])))
print(f'{worst:.3e}')
