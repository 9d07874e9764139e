//! Numbers as a UBJ file holds them: big-endian, all of one kind.

/// Bytes of a number with this marker.
pub(crate) fn number_size(marker: u8) -> Option<usize> {
    match marker {
        b'i' | b'U' => Some(1),
        b'I' | b'u' => Some(2),
        b'l' | b'm' | b'd' => Some(4),
        b'L' | b'M' | b'D' => Some(8),
        _ => None,
    }
}

/// The number in `payload`, whose length is that of the marker.
pub(crate) fn decode(marker: u8, payload: &[u8]) -> f64 {
    let bits = payload.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
    match marker {
        b'i' => f64::from(bits as u8 as i8),
        b'I' => f64::from(bits as u16 as i16),
        b'l' => f64::from(bits as u32 as i32),
        b'L' => bits as i64 as f64,
        b'd' => f64::from(f32::from_bits(bits as u32)),
        b'D' => f64::from_bits(bits),
        // U, u, m, M
        _ => bits as f64,
    }
}

/// A list of numbers left in the file's bytes, where it takes less memory than decoded. Model files are nearly all such lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Packed<'a> {
    marker: u8,
    size: usize,
    payload: &'a [u8],
}

impl<'a> Packed<'a> {
    /// Numbers of `size` bytes each, the size of their marker, which divides the length of the payload.
    pub(crate) fn new(marker: u8, size: usize, payload: &'a [u8]) -> Self {
        Self { marker, size, payload }
    }

    pub(crate) fn len(self) -> usize {
        self.payload.len() / self.size
    }

    /// The numbers as doubles, which hold every number of a model exactly.
    pub(crate) fn decoded(self) -> Vec<f64> {
        self.payload.chunks_exact(self.size).map(|number| decode(self.marker, number)).collect()
    }
}
