// Replaces markdown-it's search for links in text, which the page does itself (`links.ts`): a twentieth of the script.

/** What markdown-it creates and, without its option `linkify`, never calls. */
export class LinkifyIt {}
