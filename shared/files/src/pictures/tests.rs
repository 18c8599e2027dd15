use super::*;

/// What no cleaned picture contains.
const SECRET: &[u8] = b"48.8584N";

/// What follows the end of a picture that is another file too.
const POLYGLOT: &[u8] = b"PK\x03\x04<script>48.8584N</script>";

fn png_chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let checked = [kind, data].concat();
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&length[..], &checked, &png::crc32(&checked).to_be_bytes()].concat()
}

fn png(width: u32, height: u32, extra: &[Vec<u8>]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let (profile, pixels) = (png_chunk(b"iCCP", b"p\0\0x"), png_chunk(b"IDAT", b"pixels"));
    [
        b"\x89PNG\r\n\x1A\n",
        &png_chunk(b"IHDR", &header)[..],
        &profile,
        &extra.concat(),
        &pixels,
        &png_chunk(b"IEND", b""),
    ]
    .concat()
}

fn png_metadata() -> Vec<Vec<u8>> {
    [b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"tIME", b"prVt"].map(|kind| png_chunk(kind, SECRET)).to_vec()
}

fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 2).unwrap().to_be_bytes();
    [&[0xFF, marker], &length[..], data].concat()
}

/// Exif with this orientation and a position, in one of the byte orders.
fn exif(orientation: u8, is_little: bool) -> Vec<u8> {
    let short = |value: u16| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
    let long = |value: u32| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
    let entry =
        |tag: u16, kind: u16, value: u16| [&short(tag)[..], &short(kind), &long(1), &short(value), &[0, 0]].concat();
    let order: &[u8] = if is_little { b"II*\0" } else { b"MM\0*" };
    let directory = [entry(0x010F, 2, 0), entry(0x0112, 3, orientation.into()), entry(0x8825, 4, 50)].concat();
    [b"Exif\0\0", order, &long(8), &short(3), &directory, &[0; 4], SECRET].concat()
}

fn jpeg(width: u16, height: u16, extra: &[Vec<u8>]) -> Vec<u8> {
    let frame = [&[8], &height.to_be_bytes()[..], &width.to_be_bytes(), &[1, 1, 0x11, 0]].concat();
    let jfif = segment(0xE0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0");
    let scan = [&segment(0xDA, &[1, 1, 0, 0, 63, 0])[..], b"abc\xFF\0de\xFF\xD0fg"].concat();
    let parts = [segment(0xDB, &[0; 65]), segment(0xC0, &frame), segment(0xC4, &[0; 19]), scan.clone(), scan];
    [b"\xFF\xD8", &jfif[..], &segment(0xE2, b"ICC_PROFILE\0x"), &extra.concat(), &parts.concat(), b"\xFF\xD9"].concat()
}

fn jpeg_metadata() -> Vec<Vec<u8>> {
    let data: [(u8, &[u8]); 5] = [
        (0xE1, b"http://ns.adobe.com/xap/1.0/\0"),
        (0xE2, b"MPF\0"),
        (0xE0, b"JFXX\0"),
        (0xED, b"Photoshop 3.0\0"),
        (0xFE, b""),
    ];
    data.map(|(marker, start)| segment(marker, &[start, SECRET].concat())).to_vec()
}

fn gif(width: u16, height: u16, extra: &[Vec<u8>]) -> Vec<u8> {
    let size = [width.to_le_bytes(), height.to_le_bytes()].concat();
    let colours = [b"\x80\0\0", &[0; 6][..]].concat();
    let loops = b"!\xFF\x0BNETSCAPE2.0\x03\x01\0\0\0!\xF9\x04\0\0\0\0\0";
    let frame = [b",\0\0\0\0", &size[..], b"\0\x02\x02ab\0"].concat();
    [b"GIF89a", &size[..], &colours, loops, &extra.concat(), &frame, b";"].concat()
}

fn gif_metadata() -> Vec<Vec<u8>> {
    let block = [&[8], SECRET, &[0]].concat();
    vec![[b"!\xFE", &block[..]].concat(), [b"!\xFF\x0BXMP DataXMP", &block[..]].concat()]
}

fn webp_chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_le_bytes();
    [kind, &length[..], data, &[0][..data.len() % 2]].concat()
}

fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = chunks.concat();
    let length = u32::try_from(chunks.len() + 4).unwrap().to_le_bytes();
    [b"RIFF", &length[..], b"WEBP", &chunks].concat()
}

/// Pixels of this size, without a loss or with one.
fn webp_pixels(width: u16, height: u16) -> [Vec<u8>; 2] {
    let bits = (u32::from(width) - 1) | (u32::from(height) - 1) << 14;
    let lossy = [b"\x10\0\0\x9D\x01\x2A", &width.to_le_bytes()[..], &height.to_le_bytes(), b"x"].concat();
    [webp_chunk(b"VP8L", &[b"\x2F", &bits.to_le_bytes()[..]].concat()), webp_chunk(b"VP8 ", &lossy)]
}

fn webp(width: u16, height: u16, flags: u8, extra: &[Vec<u8>]) -> Vec<u8> {
    let side = |side: u16| [&(side - 1).to_le_bytes()[..], &[0]].concat();
    let header = webp_chunk(b"VP8X", &[&[flags, 0, 0, 0][..], &side(width), &side(height)].concat());
    let pixels = webp_pixels(width, height);
    let frame = webp_chunk(b"ANMF", &[&[0; 16][..], &extra.concat(), &pixels[1]].concat());
    riff(&[header, webp_chunk(b"ICCP", b"abc"), pixels[0].clone(), frame, extra.concat()])
}

fn webp_metadata() -> Vec<Vec<u8>> {
    [b"EXIF", b"XMP ", b"junk"].map(|kind| webp_chunk(kind, SECRET)).to_vec()
}

/// A picture of each type with metadata.
pub(crate) fn samples() -> Vec<(FileType, Vec<u8>)> {
    vec![
        (FileType::Png, png(3, 2, &png_metadata())),
        (FileType::Jpeg, jpeg(3, 2, &[&jpeg_metadata()[..], &[segment(0xE1, &exif(1, true))]].concat())),
        (FileType::Gif, gif(3, 2, &gif_metadata())),
        (FileType::WebP, webp(3, 2, 0x3E, &webp_metadata())),
    ]
}

#[test]
fn pictures_lose_their_metadata() {
    let plain = [png(3, 2, &[]), jpeg(3, 2, &[]), gif(3, 2, &[]), webp(3, 2, 0x32, &[])];
    for ((file_type, bytes), plain) in samples().into_iter().zip(plain) {
        assert_eq!(FileType::recognise(&bytes, "a.txt"), Ok(file_type));
        let picture = clean_picture(file_type, &bytes).unwrap();
        assert_eq!((picture.width, picture.height, &picture.bytes), (3, 2, &plain), "{file_type:?}");
        assert!(!picture.bytes.windows(SECRET.len()).any(|window| window == SECRET));
        let polyglot = [&bytes, POLYGLOT].concat();
        assert_eq!(clean_picture(file_type, &polyglot), Ok(picture), "what follows the end is cut off");
    }
}

#[test]
fn orientation_of_a_jpeg_is_kept_alone() {
    for is_little in [false, true] {
        for orientation in 0..=9 {
            let bytes = jpeg(3, 2, &[segment(0xE1, &exif(orientation, is_little))]);
            let cleaned = clean_picture(FileType::Jpeg, &bytes).unwrap().bytes;
            assert!(!cleaned.windows(SECRET.len()).any(|window| window == SECRET));
            let found = cleaned.windows(10).find(|window| window.starts_with(b"Exif\0\0"));
            assert_eq!(found.is_some(), (2..=8).contains(&orientation), "{orientation}");
            assert_eq!(clean_picture(FileType::Jpeg, &cleaned).unwrap().bytes, cleaned);
        }
    }
    let minimal = segment(0xE1, b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0");
    let rotated = jpeg(3, 2, &[minimal]);
    assert_eq!(clean_picture(FileType::Jpeg, &rotated).unwrap().bytes, rotated);
}

#[test]
fn thumbnail_of_jfif_is_removed() {
    let bytes = jpeg(3, 2, &[]);
    let mut with_thumbnail = [b"\xFF\xD8", &segment(0xE0, b"JFIF\0\x01\x02\0\0\x01\0\x01\x01\x01abc")[..]].concat();
    with_thumbnail.extend(&bytes[2 + 18..]);
    assert_eq!(clean_picture(FileType::Jpeg, &with_thumbnail).unwrap().bytes, bytes);
}

#[test]
fn pictures_that_are_cut_off_are_damaged() {
    for (file_type, bytes) in samples() {
        for length in 0..bytes.len() {
            let cleaned = clean_picture(file_type, &bytes[..length]);
            assert!(matches!(cleaned, Err(FileError::Damaged(_))), "{file_type:?} {length}: {cleaned:?}");
        }
    }
}

#[test]
fn pictures_of_faulty_structure_are_damaged() {
    let mut wrong_sum = png(3, 2, &[]);
    wrong_sum[30] ^= 1;
    let two_frames = jpeg(3, 2, &[segment(0xC0, &[8, 0, 2, 0, 3, 1, 1, 0x11, 0])]);
    for (file_type, bytes) in [
        (FileType::Png, wrong_sum),
        (FileType::Png, png(3, 2, &[png_chunk(b"XXXX", b"")])),
        (FileType::Png, png(3, 2, &[png_chunk(b"IHDR", &[0; 13])])),
        (FileType::Png, png(0, 2, &[])),
        (FileType::Png, [b"\x89PNG\r\n\x1A\n", &png_chunk(b"IEND", b"")[..]].concat()),
        (FileType::Jpeg, two_frames),
        (FileType::Jpeg, b"\xFF\xD8\xFF\xD9".to_vec()),
        (FileType::Jpeg, jpeg(3, 0, &[])),
        (FileType::Jpeg, jpeg(3, 2, &[segment(0xDE, b"")])),
        (FileType::Jpeg, jpeg(3, 2, &[vec![0xFF, 0xE1, 0, 1]])),
        (FileType::Gif, gif(3, 2, &[vec![0x2A]])),
        (FileType::Gif, [&gif(3, 2, &[])[..19], b";"].concat()),
        (FileType::WebP, riff(&[webp_chunk(b"ICCP", b"abc")])),
        (FileType::WebP, riff(&[webp_chunk(b"VP8X", &[0; 10])])),
        (FileType::WebP, riff(&[webp_chunk(b"VP8L", &[0; 5])])),
    ] {
        let cleaned = clean_picture(file_type, &bytes);
        assert!(matches!(cleaned, Err(FileError::Damaged(_))), "{file_type:?} {bytes:?}: {cleaned:?}");
    }
}

#[test]
fn pictures_of_too_many_pixels_are_refused() {
    let inner = riff(&[webp_chunk(b"VP8X", &[0; 10]), webp_pixels(16_000, 16_000)[0].clone()]);
    let mut frame = gif(3, 2, &[]);
    let at = frame.iter().rposition(|byte| *byte == b',').unwrap();
    frame[at + 5..at + 9].copy_from_slice(&[0xFF; 4]);
    for (file_type, bytes) in [
        (FileType::Png, png(u32::MAX, u32::MAX, &[])),
        (FileType::Png, png(8_000, 5_001, &[])),
        (FileType::Jpeg, jpeg(65_000, 65_000, &[])),
        (FileType::Gif, gif(65_000, 65_000, &[])),
        (FileType::Gif, frame),
        (FileType::WebP, riff(&[webp_pixels(16_000, 16_000)[1].clone()])),
        (FileType::WebP, inner),
    ] {
        assert!(matches!(clean_picture(file_type, &bytes), Err(FileError::TooLarge(_))), "{file_type:?}");
    }
    assert_eq!(clean_picture(FileType::Png, &png(8_000, 5_000, &[])).map(|picture| picture.width), Ok(8_000));
}

#[test]
fn simple_webp_pictures_are_accepted() {
    for pixels in webp_pixels(300, 200) {
        let bytes = riff(&[pixels]);
        let picture = clean_picture(FileType::WebP, &bytes).unwrap();
        assert_eq!((picture.width, picture.height, picture.bytes), (300, 200, bytes));
    }
}

#[test]
fn documents_are_no_pictures() {
    assert_eq!(clean_picture(FileType::Svg, b"<svg/>"), Err(FileError::Unsupported));
}

#[test]
fn nested_frames_do_not_exhaust_the_stack() {
    // Each level is a frame around the next one, with 24 bytes for its type, its length and its header.
    let mut data = Vec::new();
    for level in (0..50_000).rev() {
        data.extend(b"ANMF");
        data.extend(u32::to_le_bytes(16 + level * 24));
        data.extend([0; 16]);
    }
    let mut file = b"WEBPVP8X\x0A\0\0\0\x02\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend(data);
    let length = u32::try_from(file.len()).unwrap().to_le_bytes();
    let webp = [b"RIFF", &length[..], &file].concat();
    assert!(clean_picture(FileType::WebP, &webp).is_err(), "and the stack is not used up");
}
