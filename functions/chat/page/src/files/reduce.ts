// Makes large pictures smaller before they are sent: providers reduce them to about this size anyway.

/** The longest side of a picture, in pixels, and its largest size. */
const MAX_SIDE = 2048;
const MAX_BYTES = 3.5 * 1024 * 1024;

/** What the server takes; a browser may be able to read others, such as HEIC. */
const KNOWN = /^image\/(png|jpeg|webp)$/;

/** Animations would lose their movement, and drawings have no size. */
const KEPT = /^image\/(gif|svg)/;

const QUALITY = 0.85;

/** The size of a picture whose longest side is at most `MAX_SIDE`. */
export function reducedSize(width: number, height: number): [width: number, height: number] {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

/** The name of a file with the extension of its new type. */
export const renamed = (name: string, type: string) => `${name.replace(/\.\w{1,5}$/, "")}.${type.replace("image/", "").replace("jpeg", "jpg")}`;

/** A picture that is small enough, upright; any other file, and a picture that the browser cannot read, as it is. */
export async function reduce(file: File): Promise<File> {
  if (!file.type.startsWith("image/") || KEPT.test(file.type)) return file;
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => null);
  if (!picture) return file;
  const [width, height] = reducedSize(picture.width, picture.height);
  const fits = KNOWN.test(file.type) && width === picture.width && file.size <= MAX_BYTES;
  const blob = fits ? null : await encode(picture, { width, height, type: file.type });
  picture.close();
  return blob ? new File([blob], renamed(file.name, blob.type), { type: blob.type }) : file;
}

interface Target {
  width: number;
  height: number;
  type: string;
}

/** Draws a picture: PNG and WebP keep their transparency if the result is small enough, else the ground is white. */
async function encode(picture: ImageBitmap, { width, height, type }: Target): Promise<Blob | null> {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  if (!context) return null;
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, width, height);
  const blobOf = (type: string) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, QUALITY));
  for (const kept of type === "image/png" ? ["image/png", "image/webp"] : type === "image/webp" ? ["image/webp"] : []) {
    const blob = await blobOf(kept);
    if (blob && blob.type === kept && blob.size <= MAX_BYTES) return blob;
  }
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = "#fff";
  context.fillRect(0, 0, width, height);
  return blobOf("image/jpeg");
}
