//! A picture of a document in a file: SVG, or PNG with the fonts of this machine.

use std::path::{Path, PathBuf};

use likenew_report::card;
use likenew_report::labeled_document::LabeledDocument;

use crate::exit::Result;
use crate::{output_file, wording};

/// A picture file, whose name decides its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PictureFile {
    path: PathBuf,
    is_png: bool,
}

impl PictureFile {
    /// Takes the format from the end of the path.
    ///
    /// # Errors
    /// The path does not end as a picture does, or this build cannot draw that format.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let path = PathBuf::from(path);
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        match extension.as_deref().and_then(std::ffi::OsStr::to_str) {
            Some("svg") => Ok(Self { path, is_png: false }),
            Some("png") if cfg!(feature = "png") => Ok(Self { path, is_png: true }),
            Some("png") => Err(wording::NO_PNG_IN_BUILD.to_owned()),
            _ => Err(wording::NO_PICTURE.to_owned()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Draws a document into it.
    ///
    /// # Errors
    /// This machine has no fonts for a PNG, or those of [`output_file::write`].
    pub(crate) fn write(&self, document: &LabeledDocument) -> Result<()> {
        let svg = card::svg(document);
        let picture = if self.is_png { rasterized(&svg)? } else { svg.into_bytes() };
        output_file::write(&self.path, &picture)
    }
}

#[cfg(feature = "png")]
fn rasterized(svg: &str) -> Result<Vec<u8>> {
    use resvg::{tiny_skia, usvg};

    let mut options = usvg::Options::default();
    options.fontdb_mut().load_system_fonts();
    if options.fontdb.is_empty() {
        return Err(crate::exit::Failure::Refused(wording::NO_FONTS.to_owned()));
    }
    let tree = usvg::Tree::from_str(svg, &options).expect("it is a picture of our own");
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).expect("it is small");
    resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
    Ok(pixels.encode_png().expect("pixels are encoded in memory"))
}

#[cfg(not(feature = "png"))]
fn rasterized(_svg: &str) -> Result<Vec<u8>> {
    unreachable!("a path of a PNG is refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_is_drawn() {
        assert!(!PictureFile::parse("a/drive.SVG").unwrap().is_png);
        for wrong in ["drive", "drive.jpg", "-", "png"] {
            assert!(PictureFile::parse(wrong).unwrap_err().contains(".svg"), "{wrong}");
        }
    }

    #[cfg(feature = "png")]
    #[test]
    fn a_png_has_the_size_of_the_picture_and_ink_on_it() {
        let paper = r##"<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><rect width="300" height="100" fill="#fff"/>TEXT</svg>"##;
        let text =
            r##"<text x="10" y="50" font-size="40" font-family="Open Sans, DejaVu Sans">drive</text>"##;
        let drawn = |text| rasterized(&paper.replace("TEXT", text)).unwrap();
        let (empty, written) = (drawn(""), drawn(text));
        assert!(written.starts_with(b"\x89PNG\r\n\x1a\n"));
        let side = |at: usize| u32::from_be_bytes(written[at..at + 4].try_into().unwrap());
        assert_eq!((side(16), side(20)), (300, 100));
        assert!(written.len() > empty.len() + 500, "{} and {} bytes", written.len(), empty.len());
    }
}
