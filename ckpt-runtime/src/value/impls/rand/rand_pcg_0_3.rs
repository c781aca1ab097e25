//! `rand_pcg` 0.3 (feature `rand_pcg-0.3`).

use rand_pcg_0_3::{Lcg64Xsh32, Lcg128Xsl64, Mcg128Xsl64};

super::by_serde!(Lcg64Xsh32 Lcg128Xsl64 Mcg128Xsl64);

#[cfg(all(test, feature = "rand-0.8"))]
mod tests {
    use rand_0_8::{RngCore, SeedableRng};
    use rand_pcg_0_3::{Pcg32, Pcg64, Pcg64Mcg};

    super::super::goes_on!(Pcg32 Pcg64 Pcg64Mcg);
}
