//! The scope guard of specification 004: own service read and write, shared paths read-only, siblings forbidden,
//! blocked and protected names refused even when nothing is there yet.
//!
//! Judged twice: on the spelling before anything happens, and by the files door on what the kernel really opened.

use vambrace_types::{Bearings, ScopedPath};

use crate::names::{BLOCKED, PROTECTED};
use crate::{Access, Denial, PathPattern, PatternError, Reason};

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
    protected: Vec<PathPattern>,
}

impl Scope {
    pub fn new(settings: ScopeSettings) -> Result<Scope, PatternError> {
        let built_in = BLOCKED.iter().map(|text| PathPattern::parse(text));
        let own = settings.block_patterns.iter().map(|text| PathPattern::parse(text));
        let blocked = built_in.chain(own).collect::<Result<_, _>>()?;
        let protected = PROTECTED.iter().map(|text| PathPattern::parse(text)).collect::<Result<_, _>>()?;
        Ok(Scope { settings, blocked, protected })
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
            && let Some(pattern) = self.protected.iter().find(|pattern| pattern.covers(path.components()))
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
