"""Reads a lattice file with nothing of plaq: prints trajectory number, label, logical file name ("-" where there is none)
and the SHA-256 of the links as big-endian doubles in ILDG order, the digest of plaq check. Usage: read_links.py FILE"""
import hashlib, re, struct, sys

def lime(f):
    at, rec = 0, {}
    while at < len(f):
        magic, version, flags, n = struct.unpack('>IHHQ', f[at:at + 16])
        assert (magic, version) == (0x456789ab, 1)
        rec[f[at + 16:at + 144].rstrip(b'\0').decode()] = f[at + 144:at + 144 + n]
        at += 144 + (n + 7) // 8 * 8
    text = lambda record, tag: re.search(f'<{tag}>(.*?)</{tag}>', rec[record].decode(), re.S).group(1)
    assert text('scidac-private-record-xml', 'version') == '1.1'
    assert text('scidac-private-record-xml', 'recordtype') == '0'
    letter = {'F': 'f', 'D': 'd'}[text('scidac-private-record-xml', 'precision')]
    info = text('scidac-record-xml', 'info').split()
    data = rec.get('ildg-binary-data') or rec['scidac-binary-data']
    lfn = rec.get('ildg-data-lfn', b'-').rstrip(b'\0').decode()
    return info[-1], info[1], lfn, [x for x, in struct.iter_unpack('>' + letter, data)]

def nersc(f):
    end = f.index(b'END_HEADER\n') + 11
    h = dict(re.findall(r'^(\S+) = (.*)$', f[:end].decode(), re.M))
    assert sum(x for x, in struct.iter_unpack('>I', f[end:])) % 2 ** 32 == int(h['CHECKSUM'], 16)
    letter = 'f' if h['FLOATING_POINT'] == 'IEEE32BIG' else 'd'
    u = [x for x, in struct.iter_unpack('>' + letter, f[end:])]
    assert h['DATATYPE'] == '4D_SU3_GAUGE_3x3'
    return h['SEQUENCE_NUMBER'], h['ENSEMBLE_LABEL'], '-', u

def milc(f):
    assert struct.unpack('<i', f[:4]) == (20103,) and struct.unpack('<i', f[84:88]) == (0,)
    return '-', '-', '-', [x for x, in struct.iter_unpack('<f', f[96:])]

def openqcd(f):
    nt, nx, ny, nz = n = struct.unpack('<4i', f[:16])
    links, at = {}, 24
    for t in range(nt):
        for x in range(nx):
            for y in range(ny):
                for z in range(nz):
                    for k in range(8 if (t + x + y + z) % 2 else 0):
                        site = [t, x, y, z]
                        if k % 2:
                            site[k // 2] = (site[k // 2] - 1) % n[k // 2]
                        links[(*site, k // 2)] = struct.unpack('<18d', f[at:at + 144])
                        at += 144
    order = ((t, x, y, z, mu) for t in range(nt) for z in range(nz) for y in range(ny) for x in range(nx)
             for mu in (1, 2, 3, 0))
    return '-', '-', '-', [r for link in order for r in links[link]]

data = open(sys.argv[1], 'rb').read()
reader = {b'\x45\x67\x89\xab': lime, b'BEGI': nersc, struct.pack('<i', 20103): milc}.get(data[:4], openqcd)
number, label, lfn, reals = reader(data)
print(number, label, lfn, hashlib.sha256(struct.pack(f'>{len(reals)}d', *reals)).hexdigest())
