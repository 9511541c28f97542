//! Every rule carries a text that it finds and one beside it that it does not. Both are tried whenever rules are loaded for
//! work: a set of rules that lost one of its kinds without a word would be worse than none.

use crate::redactor::{Redactor, RedactorSettings};
use crate::rule::{Pattern, Rule};
use crate::rules::rules;

/// A rule that does not do what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleProblem {
    DoesNotCompile { rule: &'static str },
    MissesItsExample { rule: &'static str },
    FindsItsNearMiss { rule: &'static str },
}

impl std::fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RuleProblem::DoesNotCompile { rule } => write!(f, "rule `{rule}` does not compile"),
            RuleProblem::MissesItsExample { rule } => write!(f, "rule `{rule}` does not find its example"),
            RuleProblem::FindsItsNearMiss { rule } => write!(f, "rule `{rule}` finds its near miss"),
        }
    }
}

/// Tries every rule on its own two texts and returns how many there are.
pub fn prove_rules() -> Result<usize, RuleProblem> {
    let mut redactor = Redactor::new(RedactorSettings::default())
        .map_err(|_| RuleProblem::DoesNotCompile { rule: "any" })?;
    rules().enumerate().try_fold(0, |n_proven, (number, rule)| {
        prove(&redactor, number, rule)?;
        // All expressions at once take tens of megabytes, which nobody needs again.
        redactor.forget(number);
        Ok(n_proven + 1)
    })
}

fn prove(redactor: &Redactor, number: usize, rule: &'static Rule) -> Result<(), RuleProblem> {
    let name = rule.name;
    let has_expression = matches!(rule.pattern, Pattern::Regex(_) | Pattern::Beside(_));
    if has_expression && redactor.finder().matcher(rule, number).is_none() {
        return Err(RuleProblem::DoesNotCompile { rule: name });
    }
    let finds = |example: &str| {
        let text = example.replace(Rule::SEPARATOR, "");
        let hay = text.as_bytes();
        (0..hay.len()).any(|place| {
            let mut here = rule.keywords.iter().filter(|keyword| rule.keyword_at(keyword, hay, place));
            here.any(|keyword| !redactor.finder().find(rule, number, hay, place, keyword).is_empty())
        })
    };
    if !finds(rule.hit) {
        return Err(RuleProblem::MissesItsExample { rule: name });
    }
    if rule.miss.is_empty() || finds(rule.miss) {
        return Err(RuleProblem::FindsItsNearMiss { rule: name });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_finds_its_example_and_not_its_near_miss() {
        let redactor = Redactor::new(RedactorSettings::default()).unwrap();
        let wrong: Vec<String> = rules()
            .enumerate()
            .filter_map(|(number, rule)| prove(&redactor, number, rule).err())
            .map(|problem| problem.to_string())
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
