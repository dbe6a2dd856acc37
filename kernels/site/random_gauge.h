/* Random momenta and links. */

/* P = p^a T_a, T_a = i lambda_a / 2, with p^a normal: the weight exp(tr P^2). */
FN void T(random_momenta_site)(const random_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8];
        for (int lane = 0; lane < W; lane++) {
            double n[8];
            for (int i = 0; i < 4; i++) T(normal_pair)(n + 2 * i, a, u, lane, 0, (uint32_t)(4 * mu + i));
            const double third = n[1] * 0.57735026918962576451;
            LANE(x[0], lane) = 0.5 * (third + n[0]);
            LANE(x[1], lane) = 0.5 * (third - n[0]);
            for (int i = 2; i < 8; i++) LANE(x[i], lane) = 0.5 * n[i];
        }
        T(save)(x, &a->out, u, mu, 8);
    }
}

/* Links, or colour matrices, uniform on the group: two rows of normal deviates made orthonormal. */
FN void T(random_links_site)(const random_args *a, long u)
{
    for (int mu = 0; mu < a->out.groups; mu++) {
        vreal link[18];
        for (int i = 0; i < 6; i++)
            for (int lane = 0; lane < W; lane++) {
                double n[2];
                T(normal_pair)(n, a, u, lane, 0, (uint32_t)(6 * mu + i));
                LANE(link[2 * i], lane) = n[0];
                LANE(link[2 * i + 1], lane) = n[1];
            }
        T(su3_unitarise)(link);
        T(save)(link, &a->out, u, mu, 18);
    }
}
