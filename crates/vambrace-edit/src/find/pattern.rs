//! Regular expressions, on the bytes as they are.

use std::ops::Range;

use super::{Filling, Finds, Ground, check_names};
use crate::fill::{self, Spelling};
use crate::{Edit, EditError, Pattern};

pub(super) fn find(
    ground: &Ground<'_>,
    place: usize,
    edit: &Edit,
    finds: &mut Finds<'_>,
) -> Result<(), EditError> {
    let pattern =
        Pattern::compile(&edit.spec).map_err(|problem| EditError::InvalidPattern { edit: place, problem })?;
    let template = edit.is_template().then(|| fill::parse(&edit.content, Spelling::Groups));
    check_names(template.as_deref(), place, |name| pattern.has_group(name))?;
    let body = ground.text.body;
    pattern.each_visible(body.as_bytes(), &ground.hidden, ground.budget, &mut |span: Range<usize>| {
        if span.is_empty() {
            return Err(EditError::EmptyMatch { edit: place, at: span.start });
        }
        finds.push(span.clone(), |room| {
            let groups = match template {
                Some(_) => Some(pattern.groups(body.as_bytes(), span)?),
                None => None,
            };
            let group = |name: &str| groups.as_ref().and_then(|groups| groups.get(name));
            Filling::of(template.as_deref(), room, |name| {
                group(name).and_then(|span| body.get(span)).unwrap_or_default()
            })
        })
    })
}
