//! CityHash64 version 1.0, which CatBoost uses.
//!
//! There are separate algorithms for four ranges of string lengths. Strings are read as little-endian
//! integers (words). If the length is not a multiple of the word size, the last word overlaps the word before
//! it.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;
const K3: u64 = 0xc949_d7c7_509e_6557;
const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;

/// Returns the hash of a string of any length.
pub(crate) fn city_hash(text: &[u8]) -> u64 {
    match text.len() {
        0..=16 => up_to_16(text),
        17..=32 => up_to_32(text),
        33..=64 => up_to_64(text),
        _ => longer(text),
    }
}

/// Returns the eight bytes starting at `at` as an integer. All callers check the length first; a word that
/// extends past the end would be read as zero.
fn word(text: &[u8], at: usize) -> u64 {
    text.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn fold(bits: u64) -> u64 {
    bits ^ bits >> 47
}

/// Hashes 128 bits to 64.
fn pair(low: u64, high: u64) -> u64 {
    let a = fold((low ^ high).wrapping_mul(MULTIPLIER));
    fold((high ^ a).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
}

fn up_to_16(text: &[u8]) -> u64 {
    let length = text.len() as u64;
    if text.len() > 8 {
        let last = word(text, text.len() - 8);
        let turned = last.wrapping_add(length).rotate_right(text.len() as u32);
        return pair(word(text, 0), turned) ^ last;
    }
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return pair(length + (u64::from(first) << 3), u64::from(last));
    }
    let (Some(&first), Some(&last)) = (text.first(), text.last()) else { return K2 };
    let y = u64::from(first) + (u64::from(text[text.len() / 2]) << 8);
    let z = length + (u64::from(last) << 2);
    fold(y.wrapping_mul(K2) ^ z.wrapping_mul(K3)).wrapping_mul(K2)
}

fn up_to_32(text: &[u8]) -> u64 {
    let length = text.len();
    let a = word(text, 0).wrapping_mul(K1);
    let b = word(text, 8);
    let c = word(text, length - 8).wrapping_mul(K2);
    let d = word(text, length - 16).wrapping_mul(K0);
    let low = a.wrapping_sub(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
    let high = a.wrapping_add((b ^ K3).rotate_right(20)).wrapping_sub(c).wrapping_add(length as u64);
    pair(low, high)
}

fn up_to_64(text: &[u8]) -> u64 {
    let length = text.len();
    // Computes half of the state. `start` and `end` depend on its outer words, and `words` are its inner
    // words.
    let half = |start: u64, end: u64, words: [u64; 2]| {
        let mut a = start;
        let b = a.wrapping_add(end).rotate_right(52);
        let mut c = a.rotate_right(37);
        a = a.wrapping_add(words[0]);
        c = c.wrapping_add(a.rotate_right(7));
        a = a.wrapping_add(words[1]);
        (a.wrapping_add(end), b.wrapping_add(a.rotate_right(31)).wrapping_add(c))
    };
    let last = word(text, length - 16).wrapping_add(length as u64).wrapping_mul(K0);
    let (v0, v1) = half(word(text, 0).wrapping_add(last), word(text, 24), [word(text, 8), word(text, 16)]);
    let start = word(text, 16).wrapping_add(word(text, length - 32));
    let (w0, w1) = half(start, word(text, length - 8), [word(text, length - 24), word(text, length - 16)]);
    let r = fold(v0.wrapping_add(w1).wrapping_mul(K2).wrapping_add(w0.wrapping_add(v1).wrapping_mul(K0)));
    fold(r.wrapping_mul(K0).wrapping_add(v1)).wrapping_mul(K2)
}

/// Mixes the 32 bytes starting at `at` with two seeds.
fn mix(text: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let [w, x, y, z] = [0, 8, 16, 24].map(|step| word(text, at + step));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let sum = a.wrapping_add(x).wrapping_add(y);
    (sum.wrapping_add(z), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a))
}

/// Hashes a string of more than 64 bytes: first its last 64 bytes, then all blocks of 64 bytes. The last
/// block may overlap the bytes that were hashed first.
fn longer(text: &[u8]) -> u64 {
    let length = text.len();
    let mut x = word(text, 0);
    let mut y = word(text, length - 16) ^ K1;
    let mut z = word(text, length - 56) ^ K0;
    let mut v = mix(text, length - 64, length as u64, y);
    let mut w = mix(text, length - 32, (length as u64).wrapping_mul(K1), K0);
    z = z.wrapping_add(fold(v.1).wrapping_mul(K1));
    x = z.wrapping_add(x).rotate_right(39).wrapping_mul(K1);
    y = y.rotate_right(33).wrapping_mul(K1);
    for at in (0..(length - 1) & !63).step_by(64) {
        x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(text, at + 16));
        x = x.rotate_right(37).wrapping_mul(K1) ^ w.1;
        y = y.wrapping_add(v.1).wrapping_add(word(text, at + 48));
        y = y.rotate_right(42).wrapping_mul(K1) ^ v.0;
        z = (z ^ w.0).rotate_right(33);
        v = mix(text, at, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = mix(text, at + 32, z.wrapping_add(w.1), y);
        std::mem::swap(&mut z, &mut x);
    }
    let low = pair(v.0, w.0).wrapping_add(fold(y).wrapping_mul(K1)).wrapping_add(z);
    pair(low, pair(v.1, w.1).wrapping_add(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the lower halves with the hashes that CatBoost 1.2.10 wrote for categories of these lengths,
    /// which repeat `"0123456789"`.
    #[test]
    fn texts_of_all_lengths_have_the_hashes_of_catboost() {
        let text: Vec<u8> = (0..300).map(|place| b'0' + (place % 10) as u8).collect();
        for (length, hash) in HASHES {
            assert_eq!(city_hash(&text[..length]) as u32, hash, "{length}");
        }
    }

    const HASHES: [(usize, u32); 27] = [
        (1, 2856682258),
        (3, 2759216877),
        (4, 313949378),
        (7, 2285567266),
        (8, 868295947),
        (9, 250717821),
        (12, 2047457076),
        (15, 681378595),
        (16, 3786010043),
        (17, 2321494199),
        (24, 947870285),
        (31, 3501228232),
        (32, 26486984),
        (33, 2274650959),
        (40, 4259606554),
        (63, 3633801351),
        (64, 3283331957),
        (65, 2589650735),
        (100, 3810196089),
        (127, 2847736994),
        (128, 591712822),
        (129, 700105723),
        (130, 2713618934),
        (192, 651274227),
        (193, 4144902280),
        (256, 2141240269),
        (300, 1362617712),
    ];
}
