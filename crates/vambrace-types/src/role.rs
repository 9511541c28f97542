//! Who a caller is allowed to be. What a role may do is policy's business, not ours.

/// The four roles of specification 004.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Dev,
    Sre,
    ReleaseManager,
    ProductOwner,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Dev, Role::Sre, Role::ReleaseManager, Role::ProductOwner];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Dev => "dev",
            Role::Sre => "sre",
            Role::ReleaseManager => "release_manager",
            Role::ProductOwner => "product_owner",
        }
    }

    /// Also by the two names that API keys have in specification 001.
    pub fn parse(text: &str) -> Result<Role, UnknownRole> {
        match text {
            "read" => return Ok(AccessLevel::Read.role()),
            "write" => return Ok(AccessLevel::Write.role()),
            _ => {}
        }
        Role::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| UnknownRole(text.to_owned()))
    }
}

/// The two access levels of specification 001, which name a role each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessLevel {
    Read,
    Write,
}

impl AccessLevel {
    pub fn role(self) -> Role {
        match self {
            AccessLevel::Read => Role::ProductOwner,
            AccessLevel::Write => Role::Dev,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRole(pub String);

impl std::fmt::Display for UnknownRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "unknown role `{}` (roles: dev, sre, release_manager, product_owner; write is dev and read is product_owner)",
            self.0
        )
    }
}

impl std::error::Error for UnknownRole {}
