//! Chains of agents that call each other (specification 001): who called whom, and how deep it is.

use std::net::IpAddr;

/// Where a call stands in a chain. The default is the beginning of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// The name that the whole chain has in everybody's logs. None: whoever calls on gives it one.
    pub request_id: Option<String>,
    /// The machine that the last one of it called from, where that is known. It is not told to the next.
    pub address: Option<IpAddr>,
    names: Vec<String>,
    depth: u32,
}

/// Who we are in a chain, and how long it may get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainRules {
    pub self_name: String,
    pub most_depth: u32,
}

impl Default for ChainRules {
    fn default() -> ChainRules {
        ChainRules { self_name: "vambrace".to_owned(), most_depth: 5 }
    }
}

/// Why a chain ends here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endless {
    /// Whose turn it is, is in the chain already.
    Circle,
    TooDeep {
        depth: u32,
        most: u32,
    },
    /// More names than any honest chain has.
    TooLong,
}

/// LIMIT: a longer chain is refused, whatever depth it claims.
const MOST_NAMES: usize = 64;
const MOST_BYTES: usize = 8 << 10;

impl Chain {
    /// From lists of names, separated by commas, as they came. `depth` is what was said, and believed only as
    /// a number.
    pub fn read<'l>(
        request_id: Option<String>,
        lists: impl IntoIterator<Item = &'l [u8]>,
        depth: Option<&str>,
    ) -> Result<Chain, Endless> {
        let mut names = Vec::new();
        let mut n_bytes = 0;
        for list in lists {
            n_bytes += list.len();
            if n_bytes > MOST_BYTES {
                return Err(Endless::TooLong);
            }
            // THREAT: P13, a name must be seen beside bytes that are no text.
            let list = String::from_utf8_lossy(list);
            names.extend(list.split(',').map(plain).filter(|name| !name.is_empty()));
            if names.len() > MOST_NAMES {
                return Err(Endless::TooLong);
            }
        }
        Ok(Chain { request_id, address: None, names, depth: depth.map_or(0, number) })
    }

    /// Whether we may be in it.
    pub fn admit(&self, rules: &ChainRules) -> Result<(), Endless> {
        if self.holds(&rules.self_name) {
            return Err(Endless::Circle);
        }
        match self.depth >= rules.most_depth {
            true => Err(Endless::TooDeep { depth: self.depth, most: rules.most_depth }),
            false => Ok(()),
        }
    }

    /// The chain of a call that we make to the next agent. What that one would refuse under our rules is not
    /// sent.
    pub fn onward(&self, rules: &ChainRules, next: &str) -> Result<Chain, Endless> {
        let mut onward = self.clone();
        onward.names.push(plain(&rules.self_name));
        onward.depth = self.depth.saturating_add(1);
        if onward.names.len() > MOST_NAMES {
            return Err(Endless::TooLong);
        }
        onward.admit(&ChainRules { self_name: next.to_owned(), ..rules.clone() })?;
        Ok(onward)
    }

    fn holds(&self, name: &str) -> bool {
        let name = plain(name);
        self.names.iter().any(|own| own.eq_ignore_ascii_case(&name))
    }

    /// As a list that `read` takes.
    pub fn list(&self) -> String {
        self.names.join(",")
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }
}

impl Endless {
    pub fn words(&self) -> String {
        match self {
            Endless::Circle => "The chain of agents leads back to one that is in it.".to_owned(),
            Endless::TooDeep { depth, most } => {
                format!("The call is {depth} agents deep; at most {most} may call each other.")
            }
            Endless::TooLong => format!("The chain of agents has more than {MOST_NAMES} names."),
        }
    }

    pub const SUGGESTION: &'static str =
        "Answer with what is known so far instead of asking a further agent.";
}

/// A name as it can stand in a list that travels in a header. INVARIANT: its own plain form is itself, so
/// that a name is known again after any number of steps.
fn plain(name: &str) -> String {
    name.trim().chars().map(|c| if (' '..='~').contains(&c) && c != ',' { c } else { '?' }).collect()
}

/// A number below zero or none at all counts as nothing said; one that is too large for us is too deep.
fn number(text: &str) -> u32 {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().unwrap_or(u32::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> ChainRules {
        ChainRules { self_name: "Vambrace".to_owned(), most_depth: 5 }
    }

    fn read(lists: &[&str], depth: &str) -> Result<Chain, Endless> {
        let chain = Chain::read(None, lists.iter().map(|list| list.as_bytes()), Some(depth))?;
        chain.admit(&rules()).map(|()| chain)
    }

    #[track_caller]
    fn check(lists: &[&str], depth: &str, expected: Result<u32, Endless>) {
        assert_eq!(read(lists, depth).map(|chain| chain.depth), expected, "{lists:?} {depth}");
    }

    #[test]
    fn circles_and_depths() {
        check(&[], "", Ok(0));
        check(&["root, helper"], "", Ok(0));
        check(&["root,vambrace"], "", Err(Endless::Circle));
        check(&["root", " VAMBRACE ,x"], "", Err(Endless::Circle));
        check(&["\u{fc}, vambrace"], "", Err(Endless::Circle));
        check(&["vambrace2, my-vambrace"], "", Ok(0));
        check(&[" , ,"], "", Ok(0));
        for (text, expected) in [("0", 0), ("4", 4), ("-1", 0), ("", 0), ("x", 0), ("1.5", 0), ("+4", 0)] {
            check(&[], text, Ok(expected));
        }
        check(&[], "5", Err(Endless::TooDeep { depth: 5, most: 5 }));
        check(&[], "6", Err(Endless::TooDeep { depth: 6, most: 5 }));
        check(&[], "99999999999999999999", Err(Endless::TooDeep { depth: u32::MAX, most: 5 }));
        check(&[&["a"; 64].join(",")], "", Ok(0));
        check(&[&["a"; 65].join(",")], "", Err(Endless::TooLong));
        check(&[&"a".repeat(8192)], "", Ok(0));
        check(&[&"a".repeat(8193)], "", Err(Endless::TooLong));
    }

    #[track_caller]
    fn check_onward(list: &str, depth: &str, next: &str, expected: Result<(&str, u32), Endless>) {
        let onward = read(&[list], depth).unwrap().onward(&rules(), next);
        let onward = onward.map(|chain| (chain.list(), chain.depth()));
        assert_eq!(onward, expected.map(|(list, depth)| (list.to_owned(), depth)), "{list} {depth} {next}");
    }

    #[test]
    fn one_step_further() {
        check_onward("", "0", "docs", Ok(("Vambrace", 1)));
        check_onward("root", "3", "docs", Ok(("root,Vambrace", 4)));
        check_onward("root", "4", "docs", Err(Endless::TooDeep { depth: 5, most: 5 }));
        check_onward("root", "1", "ROOT", Err(Endless::Circle));
        check_onward("root", "1", "vambrace", Err(Endless::Circle));
        check_onward("r\u{f6}\u{f6}t", "1", "docs", Ok(("r??t,Vambrace", 2)));
        check_onward("r\u{f6}\u{f6}t", "1", "r\u{f6}\u{f6}t", Err(Endless::Circle));
        check_onward(&["a"; 63].join(","), "0", "docs", Ok((&format!("{}Vambrace", "a,".repeat(63)), 1)));
        check_onward(&["a"; 64].join(","), "0", "docs", Err(Endless::TooLong));
    }

    #[test]
    fn every_name_is_known_again() {
        for name in ["Vambrace", "b\u{f6}t", "a,b", " spaced ", "line\r\nbreak", "\u{0}"] {
            let rules = ChainRules { self_name: name.to_owned(), most_depth: 5 };
            let onward = Chain::default().onward(&rules, "next").unwrap();
            let list = onward.list();
            assert!(list.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{list:?}");
            let back = Chain::read(None, [list.as_bytes()], Some("1")).unwrap();
            assert_eq!(back.admit(&rules), Err(Endless::Circle), "{name:?}");
        }
    }
}
