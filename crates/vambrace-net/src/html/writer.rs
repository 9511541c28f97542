//! The text as it grows: spaces collapsed, breaks merged, marks only before something.

/// What stands between two pieces of text. The greater one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
    Blank,
}

/// LIMIT: deeper lists are not moved further to the right, or a line could be all indentation.
const DEEPEST_INDENT: u64 = 4;

#[derive(Default)]
pub(super) struct Writer {
    out: String,
    gap: Gap,
    /// Empty cells and the current one, before which nothing is written yet.
    bars: usize,
    mark: Option<Mark>,
    /// No text yet in this cell: breaks before its first word mean nothing.
    fresh_cell: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Heading(u8),
    /// In so many lists.
    Item(u64),
}

impl Writer {
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn since(&self, start: usize) -> &str {
        self.out.get(start..).unwrap_or_default()
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        if !self.fresh_cell || gap == Gap::Space {
            self.gap = self.gap.max(gap);
        }
    }

    /// `<br>`: the second one makes a blank line.
    pub(super) fn line_break(&mut self) {
        let gap = if self.gap >= Gap::Line { Gap::Blank } else { Gap::Line };
        self.gap(gap);
    }

    /// Before the next text, if there is any in this block.
    pub(super) fn mark(&mut self, mark: Mark) {
        self.mark = Some(mark);
    }

    pub(super) fn clear_mark(&mut self) {
        self.mark = None;
    }

    pub(super) fn row(&mut self) {
        self.fresh_cell = false;
        self.bars = 0;
        self.gap(Gap::Line);
    }

    /// `again`: there was one before in its row.
    pub(super) fn cell(&mut self, again: bool) {
        if again {
            self.end_cell();
            self.bars = self.bars.saturating_add(1);
        }
        self.fresh_cell = true;
        self.mark = None;
    }

    /// Breaks after a cell's last word mean nothing; those before its row do.
    pub(super) fn end_cell(&mut self) {
        if !self.fresh_cell {
            self.gap = Gap::Nothing;
        }
        self.fresh_cell = true;
    }

    pub(super) fn end_table(&mut self) {
        self.fresh_cell = false;
        self.bars = 0;
    }

    /// Text that flows.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.gap(Gap::Space);
            } else if !is_invisible(c) {
                self.settle();
                self.out.push(c);
            }
        }
    }

    /// Text whose spaces and lines are meant.
    pub(super) fn verbatim(&mut self, text: &str) {
        for c in text.chars() {
            if c == '\n' || c == '\t' || !is_invisible(c) {
                self.settle();
                self.out.push(c);
            }
        }
    }

    /// Belongs to the text before, whatever comes next.
    pub(super) fn append(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(super) fn trim_lines(&mut self) {
        self.out.truncate(self.out.trim_end_matches(['\n', ' ', '\t']).len());
    }

    /// Writes what has to stand before the next character.
    fn settle(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        let bars = std::mem::take(&mut self.bars);
        self.fresh_cell = false;
        if bars > 0 {
            if gap >= Gap::Line {
                self.start_line(gap);
            }
            for _ in 0..bars {
                self.out.push_str(" | ");
            }
        } else if gap >= Gap::Line {
            self.start_line(gap);
        } else if gap == Gap::Space && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
        match self.mark.take() {
            Some(Mark::Heading(level)) => {
                for _ in 0..level {
                    self.out.push('#');
                }
                self.out.push(' ');
            }
            Some(Mark::Item(depth)) => {
                for _ in 1..depth.min(DEEPEST_INDENT) {
                    self.out.push_str("  ");
                }
                self.out.push_str("- ");
            }
            None => {}
        }
    }

    fn start_line(&mut self, gap: Gap) {
        if self.out.is_empty() {
            return;
        }
        let wanted = if gap == Gap::Blank { "\n\n" } else { "\n" };
        self.out.push_str(wanted);
    }

    pub(super) fn finish(mut self) -> String {
        self.trim_lines();
        self.out
    }
}

/// Has no shape, or turns round what is beside it: Unicode's Default_Ignorable_Code_Point, the direction
/// marks, and controls.
/// THREAT: text for the agent that a person cannot see, or sees in another order.
pub(super) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
