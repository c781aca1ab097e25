//! `rand_pcg` 0.10 (feature `rand_pcg-0.10`).

use rand_pcg_0_10::{Lcg64Xsh32, Lcg128CmDxsm64, Lcg128Xsl64, Mcg128Xsl64};

super::by_serde!(Lcg64Xsh32 Lcg128CmDxsm64 Lcg128Xsl64 Mcg128Xsl64);

#[cfg(test)]
mod tests {
    use rand_pcg_0_10::rand_core::{Rng, SeedableRng};
    use rand_pcg_0_10::{Pcg32, Pcg64, Pcg64Dxsm, Pcg64Mcg};

    super::super::goes_on!(Pcg32 Pcg64 Pcg64Mcg Pcg64Dxsm);
}
