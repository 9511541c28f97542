//! The way `find` writes: folders first, then an expression of listed words.

use super::block::Choice;
use super::kind::Behind;
use super::read::Reading;
use crate::command::Word;

pub(crate) fn read(reading: &mut Reading<'_, '_, '_>, words: &[Word]) {
    let block = reading.block;
    let mut folders: Vec<(&Word, Behind)> = Vec::new();
    let mut in_expression = false;
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let spelled = word.spelled();
        let known = block.options.get_key_value(spelled.as_str()).filter(|_| !word.is_glob());
        let leads = !in_expression && folders.is_empty() && block.leading.contains(&spelled);
        if !leads && !in_expression && block.leading.contains(&spelled) {
            reading.refuse(&spelled, "it must stand before the folders");
            continue;
        }
        in_expression |= !leads && (known.is_some() || spelled.starts_with(['-', '(', ')', '!', ',']));
        match known {
            Some((name, choice)) => {
                reading.given.push(name);
                rest = word_of_expression(reading, &spelled, choice, rest);
            }
            None if in_expression => {
                reading.refuse(&spelled, "its rules do not know this word of the expression")
            }
            None => folders.push((word, Behind::Nothing)),
        }
    }
    reading.required();
    reading.operands(&folders);
}

fn word_of_expression<'w>(
    reading: &mut Reading<'_, '_, '_>,
    spelled: &str,
    choice: &Choice,
    rest: &'w [Word],
) -> &'w [Word] {
    let rule = &reading.block.rule;
    match choice {
        Choice::Flag | Choice::Optional(_) => {
            reading.sheet.allow(spelled, rule, "expression");
            rest
        }
        Choice::Value(kinds) => {
            reading.sheet.allow(spelled, rule, "expression");
            reading.values(kinds, spelled, rest)
        }
        Choice::Separate(kind) => {
            reading.sheet.allow(spelled, rule, "expression");
            reading.values(std::slice::from_ref(kind), spelled, rest)
        }
        Choice::Refused(why) => {
            reading.refuse(spelled, why);
            rest
        }
    }
}
