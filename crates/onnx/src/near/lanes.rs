//! Arithmetic on vectors of channels, compiled for several instruction sets.

/// Channels of a cell are padded to a multiple of this number, so that loops over them do not have a
/// remainder.
pub(super) const LANES: usize = 8;

/// Compiles a function for several instruction sets, one of which is selected at the first call.
macro_rules! multiversioned {
    ($item:item) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma",
            "x86_64+avx2+fma"
        ))]
        $item
    };
}
pub(super) use multiversioned;

/// Returns whether the selected instruction set has fused multiply-add. Without it, a fused operation would
/// be a slow function call.
macro_rules! fused {
    () => {
        multiversion::target::target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"))
    };
}
pub(super) use fused;

/// Computes `a · b + c`, rounded once if `FUSED`.
#[inline(always)]
pub(super) fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
