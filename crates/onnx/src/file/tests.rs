//! Tests with messages written byte by byte: valid messages, and messages that are corrupt in a single place.

#![allow(clippy::unwrap_used)]

use std::sync::mpsc;
use std::time::Duration;

use super::parse;

/// Paths of field numbers, from the outermost message inwards, to all messages that the parser reads.
const MESSAGES: [&[u8]; 22] = [
    &[],
    &[8],
    &[14],
    &[7],
    &[7, 1],
    &[7, 1, 5],
    &[7, 1, 5, 5],
    &[7, 1, 5, 5, 13],
    &[7, 1, 5, 6],
    &[7, 1, 5, 6, 1, 5, 6, 1],
    &[7, 5],
    &[7, 5, 13],
    &[7, 11],
    &[7, 12],
    &[7, 13],
    &[7, 11, 2],
    &[7, 12, 2, 1],
    &[7, 13, 2, 1, 2],
    &[7, 11, 2, 1, 2, 1],
    &[7, 11, 2, 4],
    &[7, 11, 2, 4, 1],
    &[7, 11, 2, 4, 1, 1, 2, 1],
];

/// A format version and an operator set version, which every file must have.
const VERSIONS: [u8; 6] = [1 << 3, 8, 8 << 3 | 2, 2, 2 << 3, 13];

fn integer(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Returns a field with this number and length; `content` may be shorter than `length`.
fn field(number: u8, length: usize, content: &[u8]) -> Vec<u8> {
    [integer(u64::from(number) << 3 | 2), integer(length as u64), content.to_vec()].concat()
}

/// Returns a file with this content in the message at the end of the path, and the position of the content.
fn within(path: &[u8], content: &[u8]) -> (Vec<u8>, usize) {
    let wrap = |inner: Vec<u8>, &number: &u8| field(number, inner.len(), &inner);
    let message = path.iter().rev().fold(content.to_vec(), wrap);
    let file = [VERSIONS.as_slice(), &message].concat();
    let start = file.len() - content.len();
    // Append more bytes, so that the end of the file is never the reason for an error.
    ([file, field(99, 30, &[0; 30])].concat(), start)
}

/// Returns the error of reading a file. Panics if the reader does not finish, so that the test itself does
/// not hang.
fn problem(bytes: Vec<u8>) -> Option<String> {
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || sender.send(parse(&bytes).err().map(|error| error.to_string())));
    answer.recv_timeout(Duration::from_secs(60)).expect("the file is read within a minute, without a panic")
}

/// Asserts that reading fails at this content of a message, and that the error contains the position of its
/// field.
fn assert_refused(path: &[u8], content: &[u8], fault: &str) {
    let (bytes, start) = within(path, content);
    let expected = format!("the field at byte {start} of {} {fault};", bytes.len());
    let problem = problem(bytes).unwrap_or_else(|| panic!("{path:?} {content:?} was read"));
    assert!(problem.contains(&expected), "{path:?} {content:?}: {problem}, not {expected}");
}

fn assert_read(path: &[u8], content: &[u8]) {
    assert_eq!(problem(within(path, content).0), None, "{path:?} {content:?}");
}

#[test]
fn numbers_of_more_than_ten_bytes_are_refused_in_every_message() {
    let endless = [0xff; 12];
    // A number with more than 64 bits, in ten bytes.
    let large = [[0xff; 9].as_slice(), &[2]].concat();
    for path in MESSAGES {
        for number in [&endless[..], &endless[..10], &large] {
            // Use it as the number of a skipped field, as a value, and as a length.
            assert_refused(path, number, "has a number with more than 64 bits");
            for kind in [0, 2] {
                let value = [&integer(31 << 3 | kind), number].concat();
                assert_refused(path, &value, "has a number with more than 64 bits");
            }
        }
        let largest = [[0xff; 9].as_slice(), &[1]].concat();
        assert_read(path, &[integer(31 << 3), largest].concat());
    }
}

#[test]
fn fields_that_end_outside_of_their_message_are_refused_in_every_message() {
    for path in MESSAGES {
        assert_read(path, &field(31, 5, &[0xff; 5]));
        // In the outermost message, more bytes follow the content, so fields of the first two lengths do not
        // exceed the file.
        for length in
            [6, 12, 1 << 20, 1 << 50, u64::MAX as usize].into_iter().skip(if path.is_empty() { 2 } else { 0 })
        {
            assert_refused(path, &field(31, length, &[0xff; 5]), "is truncated");
        }
        if path.is_empty() {
            continue;
        }
        for content in
            [&[0xff; 9][..], &[0xf8], &[0xf8, 1], &[0xf8, 1, 0x80], &[0xf9, 1, 0, 0], &[0xfd, 1, 0, 0, 0]]
        {
            assert_refused(path, content, "is truncated");
        }
    }
}

#[test]
fn kinds_of_fields_that_are_not_in_use_are_refused_in_every_message() {
    for path in MESSAGES {
        for kind in [3, 4, 6, 7] {
            assert_refused(path, &integer(31 << 3 | kind), "has an invalid wire type");
        }
    }
}

#[test]
fn packed_numbers_are_refused_unless_they_are_whole() {
    for tensor in [&[7, 5][..], &[7, 1, 5, 5]] {
        for number in [5, 7] {
            assert_refused(tensor, &field(number, 12, &[0xff; 12]), "has a number with more than 64 bits");
            assert_refused(tensor, &field(number, 3, &[1, 1, 0xff]), "is truncated");
            assert_read(tensor, &field(number, 3, &[1, 0xff, 1]));
        }
        for (number, size) in [(4, 4), (10, 8)] {
            assert_refused(tensor, &field(number, size + 1, &vec![0xff; size + 1]), "is truncated");
            assert_read(tensor, &field(number, 2 * size, &vec![0xff; 2 * size]));
        }
        // Raw data may be arbitrary bytes.
        assert_read(tensor, &field(9, 13, &[0xff; 13]));
    }
}

#[test]
fn messages_within_messages_are_refused_beyond_a_hundred() {
    // Nest a graph in an attribute of a node of a graph, and a sequence in a sequence.
    for (path, nest) in [(&[7][..], &[1, 5, 6][..]), (&[7, 11, 2], &[4, 1])] {
        let deep =
            |length: usize| path.iter().chain(nest.iter().cycle()).take(length).copied().collect::<Vec<_>>();
        assert_read(&deep(100), &[]);
        for length in [101, 102, 5000] {
            let refused = problem(within(&deep(length), &[]).0).unwrap();
            assert!(refused.contains("is nested in more than 100 messages"), "{length}: {refused}");
        }
    }
}

#[test]
fn files_overwritten_anywhere_are_read_or_refused() {
    let files = [
        include_bytes!("../../tests/fixtures/diabetes_mlp.onnx").as_slice(),
        include_bytes!("../../tests/fixtures/iris_mlp.onnx"),
    ];
    let mut refused = 0;
    for file in files {
        assert_eq!(problem(file.to_vec()), None);
        for length in [1, 12] {
            for start in 0..file.len() {
                let mut bytes = file.to_vec();
                bytes[start..file.len().min(start + length)].fill(0xff);
                refused += usize::from(problem(bytes).is_some());
            }
        }
    }
    assert!(refused > 1000, "only {refused} were refused");
}
