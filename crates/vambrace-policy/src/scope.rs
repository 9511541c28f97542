//! The scope guard of specification 004: own service read and write, shared paths read-only, siblings forbidden,
//! blocked and protected names refused even when nothing is there yet.
//!
//! Judged twice: on the spelling before anything happens, and by the files door on what the kernel really opened.

use vambrace_types::{Bearings, ScopedPath};

use crate::names::{self, BLOCKED, EXAMPLES};
use crate::{Access, Denial, OperatorRule, PathPattern, PatternError, Reason};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Own service and shared paths, nothing else.
    Strict,
    /// The rest of the project can be read.
    Shared,
}

/// Which part of the project a path is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Zone {
    Own,
    Shared,
    Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symlinks {
    /// Followed for reading while every step stays inside; never as the last part of what is written.
    Inside,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardLinks {
    /// A file with several names can be read, not changed.
    ReadOnly,
    Allow,
    Deny,
}

#[derive(Debug, Clone)]
pub struct ScopeSettings {
    pub bearings: Bearings,
    pub isolation: Isolation,
    /// Added to the built-in blocked zones.
    pub block_patterns: Vec<String>,
    /// The operator named the shared paths, so they are read-only even inside the service. The built-in list only
    /// means something beside a service: a lone project may well have a folder `shared` of its own.
    pub shared_inside_own: bool,
    pub symlinks: Symlinks,
    pub hard_links: HardLinks,
}

#[derive(Debug, Clone)]
pub struct Scope {
    settings: ScopeSettings,
    blocked: Vec<PathPattern>,
    protected: Protection,
}

/// The protected names alone, for whoever has nothing else to decide.
#[derive(Debug, Clone)]
pub struct Protection(Vec<PathPattern>);

impl Protection {
    /// As text, for another process.
    pub fn to_text(&self) -> String {
        // No name holds a zero byte, so a pattern with one protects nothing.
        let words = self.0.iter().map(PathPattern::to_word).filter(|word| !word.contains('\0'));
        words.collect::<Vec<_>>().join("\0")
    }

    pub fn from_text(text: &str) -> Result<Protection, PatternError> {
        let words = text.split('\0').filter(|word| !word.is_empty());
        words.map(PathPattern::from_word).collect::<Result<_, _>>().map(Protection)
    }

    pub fn covers(&self, components: &[String]) -> bool {
        self.0.iter().any(|pattern| pattern.covers(components))
    }

    /// Whether a link here would decide what a protected name of several parts means: `.cargo` of `.cargo/config.toml`.
    pub fn is_led_to_by(&self, components: &[String]) -> bool {
        self.0.iter().any(|pattern| pattern.begins_with(components))
    }

    /// The spellings, so that most names can be passed over without asking.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(PathPattern::text)
    }
}

/// Blocked for the file tools, visible to programs in a cage.
const SHOWN_TO_PROGRAMS: [&str; 2] = [".git", "node_modules"];

impl Scope {
    pub fn new(settings: ScopeSettings) -> Result<Scope, PatternError> {
        let built_in = BLOCKED.iter().map(|text| {
            let pattern = PathPattern::parse(text)?;
            Ok(if *text == ".env.*" { pattern.except(EXAMPLES) } else { pattern })
        });
        let own = settings.block_patterns.iter().map(|text| PathPattern::parse(text));
        let blocked = built_in.chain(own).collect::<Result<_, _>>()?;
        let protected = names::protected().map(PathPattern::parse).collect::<Result<_, _>>()?;
        Ok(Scope { settings, blocked, protected: Protection(protected) })
    }

    /// The same scope with more that programs must not see, and more that they must not change: what the operator's rules
    /// refuse to the file tools.
    pub fn narrowed_by(&self, rules: &[OperatorRule]) -> Scope {
        let mut scope = self.clone();
        scope.blocked.extend(rules.iter().filter_map(OperatorRule::hides).cloned());
        scope.protected.0.extend(rules.iter().filter_map(OperatorRule::fixes).cloned());
        scope
    }

    pub fn bearings(&self) -> &Bearings {
        &self.settings.bearings
    }

    pub fn symlinks(&self) -> Symlinks {
        self.settings.symlinks
    }

    pub fn hard_links(&self) -> HardLinks {
        self.settings.hard_links
    }

    pub fn isolation(&self) -> Isolation {
        self.settings.isolation
    }

    /// Whether a cage shows something empty in its place. Two blocked names stay visible there: programs read `.git`,
    /// and read and write `node_modules`. What the operator blocks is masked, whatever it is called.
    pub fn is_masked(&self, components: &[String]) -> bool {
        self.masks().any(|pattern| pattern.covers(components))
    }

    pub fn is_protected(&self, components: &[String]) -> bool {
        self.protected.covers(components)
    }

    /// Whether a link here would decide what a protected name of several parts means: `.cargo` of `.cargo/config.toml`.
    pub fn leads_to_protected(&self, components: &[String]) -> bool {
        self.protected.is_led_to_by(components)
    }

    pub fn protection(&self) -> &Protection {
        &self.protected
    }

    /// What `is_masked` asks, for whoever has nothing else to decide.
    pub fn masking(&self) -> Protection {
        Protection(self.masks().cloned().collect())
    }

    /// The spellings behind `is_masked` and `is_protected`, so that a walk can pass over most names without asking.
    pub fn masked_texts(&self) -> impl Iterator<Item = &str> {
        self.masks().map(PathPattern::text)
    }

    pub fn protected_texts(&self) -> impl Iterator<Item = &str> {
        self.protected.texts()
    }

    /// The same without what the operator adds, of a scope that no rule has narrowed.
    pub fn built_in_untouchable(&self) -> impl Iterator<Item = &PathPattern> {
        let built_in = self.blocked.iter().take(BLOCKED.len());
        let masked = built_in.filter(|pattern| !SHOWN_TO_PROGRAMS.contains(&pattern.text()));
        masked.chain(&self.protected.0)
    }

    /// What a cage masks or lets nobody change.
    pub fn untouchable(&self) -> impl Iterator<Item = &PathPattern> {
        self.masks().chain(&self.protected.0)
    }

    fn masks(&self) -> impl Iterator<Item = &PathPattern> {
        let shown = |place: usize, pattern: &PathPattern| {
            place < BLOCKED.len() && SHOWN_TO_PROGRAMS.contains(&pattern.text())
        };
        self.blocked
            .iter()
            .enumerate()
            .filter(move |(place, pattern)| !shown(*place, pattern))
            .map(|(_, it)| it)
    }

    pub fn zone(&self, path: &ScopedPath) -> Zone {
        let bearings = &self.settings.bearings;
        let own = path.components().starts_with(bearings.service());
        let shared = bearings.shared().iter().any(|prefix| path.components().starts_with(prefix));
        match (own, shared) {
            (true, true) if self.settings.shared_inside_own => Zone::Shared,
            (true, true | false) => Zone::Own,
            (false, true) => Zone::Shared,
            (false, false) => Zone::Rest,
        }
    }

    /// The strictest word on this path. `Ok` names the rule that allows it.
    pub fn judge(&self, path: &ScopedPath, access: Access) -> Result<&'static str, Denial> {
        let spelled = || path.spelled(&self.settings.bearings);
        if let Some(pattern) = self.blocked.iter().find(|pattern| pattern.covers(path.components())) {
            let reason = Reason::Blocked { path: spelled(), pattern: pattern.text().to_owned() };
            return Err(Denial::new(reason, format!("scope.blocked:{}", pattern.text())));
        }
        let zone = self.zone(path);
        let changes = match access {
            Access::Read => false,
            Access::Write | Access::Delete => true,
        };
        if changes
            && let Some(pattern) = self.protected.0.iter().find(|pattern| pattern.covers(path.components()))
        {
            let reason = Reason::Protected { path: spelled(), pattern: pattern.text().to_owned() };
            return Err(Denial::new(reason, format!("scope.protected:{}", pattern.text())));
        }
        match (zone, self.settings.isolation, changes) {
            (Zone::Own, _, _) => Ok("scope.own"),
            (Zone::Shared, _, false) => Ok("scope.shared"),
            (Zone::Rest, Isolation::Shared, false) => Ok("scope.project"),
            (Zone::Shared, _, true) => Err(Denial::new(Reason::ReadOnly { path: spelled() }, "scope.shared")),
            (Zone::Rest, Isolation::Strict | Isolation::Shared, _) => {
                Err(Denial::new(Reason::OutsideScope { path: spelled(), access }, "scope.service_isolation"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(block: &[&str]) -> Scope {
        Scope::new(ScopeSettings {
            bearings: Bearings::new(&["/w"], "", &[]),
            isolation: Isolation::Strict,
            block_patterns: block.iter().map(|text| (*text).to_owned()).collect(),
            shared_inside_own: false,
            symlinks: Symlinks::Inside,
            hard_links: HardLinks::ReadOnly,
        })
        .unwrap()
    }

    #[track_caller]
    fn check(block: &[&str], path: &str, masked: bool, protected: bool) {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let scope = scope(block);
        assert_eq!((scope.is_masked(&parts), scope.is_protected(&parts)), (masked, protected), "{path}");
    }

    #[test]
    fn a_link_on_the_way_to_a_protected_name_is_known() {
        let leads = |path: &str| {
            let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            scope(&[]).leads_to_protected(&parts)
        };
        assert!(leads(".cargo") && leads("sub/.config") && leads(".local") && leads(".github"));
        assert!(!leads(".cargo/config.toml") && !leads("src") && !leads(".docker"));
    }

    #[test]
    fn a_cage_masks_what_is_blocked_except_what_programs_need() {
        check(&[], ".env", true, false);
        check(&[], "a/b/.ENV.local", true, false);
        check(&[], ".environment.md", false, false);
        check(&[], "a/.env.example", false, false);
        check(&[], ".ENV.Sample", false, false);
        check(&[], ".env.template", false, false);
        check(&[], ".env.dist", false, false);
        check(&[], ".env.example.local", true, false);
        check(&[], ".env.example/.env", true, false);
        check(&[], ".env.prod/.env.example", true, false);
        check(&[".env.*"], ".env.example", true, false);
        check(&[], "secrets/x", true, false);
        check(&[], ".git", false, false);
        check(&[], "node_modules/x", false, false);
        check(&["node_modules"], "node_modules/x", true, false);
        check(&["*.pem"], "keys/a.pem", true, false);
        check(&[], "sub/.vscode/tasks.json", false, true);
        check(&[], ".cargo/config.toml", false, true);
        check(&[], ".cargo/bin", false, false);
    }
}
