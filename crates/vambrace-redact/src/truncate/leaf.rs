//! One text, cut to head and tail with a marker between.

use vambrace_types::json_text_len;

use crate::placeholder::PLACEHOLDER_PREFIX;

/// The result's JSON form has at most `longest` bytes, quotes included. `longest` is at least 512.
pub(super) fn head_and_tail(text: &str, longest: usize, handle: Option<&str>) -> String {
    // The numbers in the final marker are never longer than in this one.
    let widest = marker(text.len(), text.len(), handle);
    let room = longest.saturating_sub(json_text_len(&widest));
    // The beginning of an output says what it is; the end says how it went. The former needs more room.
    let head_end = before_placeholder(text, prefix_len(text, room / 3 * 2));
    let tail_start =
        after_placeholder(text, text.len() - suffix_len(text, room - room / 3 * 2)).max(head_end);
    let head = text.get(..head_end).unwrap_or_default();
    let tail = text.get(tail_start..).unwrap_or_default();
    format!("{head}{}{tail}", marker(tail_start - head_end, head_end, handle))
}

fn marker(n_cut: usize, offset: usize, handle: Option<&str>) -> String {
    match handle {
        Some(handle) => format!("\n[… {n_cut} bytes cut; read_output handle {handle} offset {offset} …]\n"),
        None => format!("\n[… {n_cut} bytes cut at offset {offset}; they could not be kept …]\n"),
    }
}

/// The longest prefix of whole characters that JSON writes in `room` bytes.
fn prefix_len(text: &str, room: usize) -> usize {
    length(text.chars(), room)
}

fn suffix_len(text: &str, room: usize) -> usize {
    length(text.chars().rev(), room)
}

fn length(characters: impl Iterator<Item = char>, mut room: usize) -> usize {
    let mut length = 0;
    for c in characters {
        let cost = json_text_len(c.encode_utf8(&mut [0; 4])).saturating_sub(2);
        match room.checked_sub(cost) {
            Some(left) => room = left,
            None => break,
        }
        length += c.len_utf8();
    }
    length
}

/// Half a placeholder would not be recognized as one when the text is written back.
fn before_placeholder(text: &str, end: usize) -> usize {
    around(text, end).map_or(end, |(start, _)| start)
}

fn after_placeholder(text: &str, start: usize) -> usize {
    around(text, start).map_or(start, |(_, end)| end)
}

/// The placeholder that `place` is strictly inside of.
fn around(text: &str, place: usize) -> Option<(usize, usize)> {
    let from = text.floor_char_boundary(place.saturating_sub(crate::placeholder::LONGEST));
    let to = text.floor_char_boundary(place + PLACEHOLDER_PREFIX.len());
    let start = from + text.get(from..to.min(text.len()))?.rfind(PLACEHOLDER_PREFIX)?;
    let end = start + text.get(start..)?.find(']')? + 1;
    (start < place && place < end && end - start <= crate::placeholder::LONGEST).then_some((start, end))
}
