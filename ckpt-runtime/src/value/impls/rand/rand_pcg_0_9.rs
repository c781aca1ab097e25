//! `rand_pcg` 0.9 (feature `rand_pcg`).

use ::rand_pcg::{Lcg64Xsh32, Lcg128CmDxsm64, Lcg128Xsl64, Mcg128Xsl64};

super::by_serde!(Lcg64Xsh32 Lcg128CmDxsm64 Lcg128Xsl64 Mcg128Xsl64);

#[cfg(test)]
mod tests {
    use ::rand_pcg::rand_core::{RngCore, SeedableRng};
    use ::rand_pcg::{Pcg32, Pcg64, Pcg64Dxsm, Pcg64Mcg};

    super::super::goes_on!(Pcg32 Pcg64 Pcg64Mcg Pcg64Dxsm);
}
