//! What two texts share at both ends, found in their bytes: in a long file with a small change, looking at every line
//! costs far more than the change.

use memchr::{memchr, memchr_iter, memrchr, memrchr_iter};

/// Compared at once; the first difference is then looked for within one block.
const BLOCK: usize = 4096;

/// The parts that differ, whole lines, with a few shared lines around them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Middle<'t> {
    pub(super) old: &'t str,
    pub(super) new: &'t str,
    /// Lines before the middle, equal on both sides.
    pub(super) n_before: usize,
}

/// Takes the shared lines off both ends, and leaves `context` of them at each.
pub(super) fn set_aside<'t>(old: &'t str, new: &'t str, context: usize) -> Middle<'t> {
    let n_same = common_start(old.as_bytes(), new.as_bytes());
    let same = old.as_bytes().get(..n_same).unwrap_or_default();
    let head_end = memrchr(b'\n', same).map_or(0, |at| at + 1);
    let (head, old_rest) = old.split_at_checked(head_end).unwrap_or(("", old));
    let (_, new_rest) = new.split_at_checked(head_end).unwrap_or(("", new));
    let tail = common_tail(old_rest, new_rest);

    // Every line of the head has its line feed, the last one too.
    let start = memrchr_iter(b'\n', head.as_bytes()).nth(context).map_or(0, |at| at + 1);
    let kept = match context.checked_sub(1) {
        Some(last) => memchr_iter(b'\n', tail.as_bytes()).nth(last).map_or(tail.len(), |at| at + 1),
        None => 0,
    };
    let n_after = tail.len() - kept;
    let middle = |text: &'t str| text.get(start..text.len() - n_after).unwrap_or(text);
    let before = head.as_bytes().get(..start).unwrap_or_default();
    Middle { old: middle(old), new: middle(new), n_before: memchr_iter(b'\n', before).count() }
}

/// The whole lines that both texts end in.
fn common_tail<'t>(old: &'t str, new: &str) -> &'t str {
    let n_same = common_end(old.as_bytes(), new.as_bytes());
    let starts_line = |text: &str| {
        let before = text.as_bytes().get(..text.len() - n_same).unwrap_or_default();
        before.last().is_none_or(|byte| *byte == b'\n')
    };
    let start = old.len() - n_same;
    let same = old.as_bytes().get(start..).unwrap_or_default();
    // The first of these bytes may be in the middle of a line, and of a character.
    let skipped = if starts_line(old) && starts_line(new) {
        0
    } else {
        memchr(b'\n', same).map_or(n_same, |at| at + 1)
    };
    old.get(start + skipped..).unwrap_or_default()
}

fn common_start(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.chunks(BLOCK).zip(new.chunks(BLOCK));
    let n_blocks = blocks.take_while(|(old, new)| old == new && old.len() == BLOCK).count();
    let (old, new) = (old.iter().skip(n_blocks * BLOCK), new.iter().skip(n_blocks * BLOCK));
    n_blocks * BLOCK + old.zip(new).take_while(|(old, new)| old == new).count()
}

fn common_end(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.rchunks(BLOCK).zip(new.rchunks(BLOCK));
    let n_blocks = blocks.take_while(|(old, new)| old == new && old.len() == BLOCK).count();
    let (old, new) = (old.iter().rev().skip(n_blocks * BLOCK), new.iter().rev().skip(n_blocks * BLOCK));
    n_blocks * BLOCK + old.zip(new).take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: (&str, &str, usize)) {
        let (old_middle, new_middle, n_before) = expected;
        let expected = Middle { old: old_middle, new: new_middle, n_before };
        assert_eq!(set_aside(old, new, 1), expected, "{old:?} {new:?}");
    }

    #[test]
    fn shared_lines_are_set_aside_but_for_the_context() {
        check("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n", ("b\nc\nd\n", "b\nC\nd\n", 1));
        check("a\nb\nc\n", "a\nb\n", ("b\nc\n", "b\n", 1));
        check("a\nb\n", "x\na\nb\n", ("a\n", "x\na\n", 0)); // the whole old text is the tail
        check("xb\nc\n", "yb\nc\n", ("xb\nc\n", "yb\nc\n", 0)); // the shared bytes begin within a line
        check("a\na\n", "a\na\na\n", ("a\n", "a\na\n", 1)); // head and tail do not overlap
        check("a\nb", "a\nb\n", ("a\nb", "a\nb\n", 0));
        check("b", "a\nb", ("b", "a\nb", 0));
        check("", "a\n", ("", "a\n", 0));
        // The two letters share their last byte.
        check("é\nx\ny\n", "©\nx\ny\n", ("é\nx\n", "©\nx\n", 0));
        check("xé", "xĩ", ("xé", "xĩ", 0));
    }

    #[test]
    fn blocks_and_their_borders() {
        for length in [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            for place in [0, 1, length / 2, length - 1] {
                let old = vec![b'a'; length];
                let mut new = old.clone();
                new[place] = b'b';
                assert_eq!(common_start(&old, &new), place, "{length} {place}");
                assert_eq!(common_end(&old, &new), length - 1 - place, "{length} {place}");
            }
            let (old, new) = (vec![b'a'; length], vec![b'a'; length + 1]);
            assert_eq!((common_start(&old, &new), common_end(&old, &new)), (length, length));
        }
    }
}
