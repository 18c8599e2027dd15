// A file as a small picture, or as its type. A policy without other origins permits pictures as `blob:` URLs only.

import { useEffect, useRef } from "preact/hooks";

import { fetchWithKey, toApiError } from "../api/transport.ts";
import type { Attachment } from "../api/types.ts";

/** The files that this page sent, which need not be loaded. */
export const sentFiles = new Map<string, Blob>();

/** The content of a file. */
export async function readFile(id: string): Promise<Blob> {
  const sent = sentFiles.get(id);
  if (sent) return sent;
  const response = await fetchWithKey(`/api/attachments/${id}`, { method: "GET" });
  if (!response.ok) throw await toApiError(response);
  return response.blob();
}

/** Shows a picture; the URL is not needed once it is loaded. */
export function showPicture(image: HTMLImageElement, blob: Blob): void {
  image.onload = image.onerror = () => URL.revokeObjectURL(image.src);
  image.src = URL.createObjectURL(blob);
}

type ThumbProps = Pick<Attachment, "id" | "name" | "kind"> & { file?: Blob | undefined };

/** A picture, which is loaded when it comes near the screen; of another file, the extension. */
export function Thumb({ id, name, kind, file }: ThumbProps) {
  const image = useRef<HTMLImageElement>(null);
  useEffect(() => {
    const node = image.current;
    if (!node) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      (file ? Promise.resolve(file) : readFile(id)).then((blob) => showPicture(node, blob), () => {});
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  if (kind === "image") return <img class="thumb" alt="" ref={image} />;
  return <span class="thumb" aria-hidden="true">{/\.(\w{1,4})\w*$/.exec(name)?.[1] ?? "…"}</span>;
}
