//! Text of PPTX presentations. ECMA-376 Part 1, 13.3 (parts), 19.2 (order of slides) and 21.1 (text).

use std::collections::HashMap;

use quick_xml::events::Event;

use super::archive::Archive;
use super::body;
use super::xml::{attribute, for_each_event};
use crate::FileError;

/// Reads the slides in the order in which they are shown, each with its notes.
pub(super) fn read(archive: &mut Archive<'_>) -> Result<Vec<String>, FileError> {
    let damaged = || FileError::damaged("it is not a readable PPTX presentation");
    let parts = related(archive, "ppt/presentation.xml", "slide")?;
    let presentation = archive.read("ppt/presentation.xml")?.ok_or_else(damaged)?;
    let mut order = Vec::new();
    for_each_event(&presentation, |event| match event {
        Event::Start(tag) if tag.local_name().as_ref() == "sldId" => order.extend(attribute(&tag, "r:id")),
        _ => {}
    })
    .ok_or_else(damaged)?;
    let mut slides = Vec::new();
    for part in order.iter().filter_map(|id| parts.get(id)) {
        let mut slide = part_text(archive, part)?;
        for notes in related(archive, part, "notesSlide")?.values() {
            slide.push_str(&part_text(archive, notes)?);
        }
        slides.push(slide);
    }
    Ok(slides)
}

fn part_text(archive: &mut Archive<'_>, part: &str) -> Result<String, FileError> {
    let xml = archive.read(part)?.unwrap_or_default();
    body::read(&xml, &HashMap::new()).ok_or_else(|| FileError::damaged("a slide of it is not readable"))
}

/// The parts that a part is related to by this kind of relationship, by their ids. Those outside of the file are left out.
///
/// Source: ECMA-376 Part 2, 6.5 "Relationships", as of November 2026.
fn related(archive: &mut Archive<'_>, part: &str, kind: &str) -> Result<HashMap<String, String>, FileError> {
    let (folder, name) = part.rsplit_once('/').unwrap_or_default();
    let relations = archive.read(&format!("{folder}/_rels/{name}.rels"))?.unwrap_or_default();
    let mut parts = HashMap::new();
    for_each_event(&relations, |event| {
        let Event::Start(tag) = event else { return };
        let is_kind = attribute(&tag, "Type").is_some_and(|one| one.rsplit('/').next() == Some(kind));
        let is_inside = attribute(&tag, "TargetMode").is_none_or(|mode| mode != "External");
        if let (true, Some(id), Some(target)) = (is_kind && is_inside, attribute(&tag, "Id"), attribute(&tag, "Target"))
        {
            parts.insert(id, absolute(folder, &target));
        }
    });
    Ok(parts)
}

/// The name of a part that is named from a folder.
fn absolute(folder: &str, target: &str) -> String {
    if let Some(name) = target.strip_prefix('/') {
        return name.to_owned();
    }
    let (mut folder, mut target) = (folder, target);
    while let Some(rest) = target.strip_prefix("../") {
        (folder, target) = (folder.rsplit_once('/').map_or("", |(above, _)| above), rest);
    }
    if folder.is_empty() { target.to_owned() } else { format!("{folder}/{target}") }
}
