import type { Mail } from "./Mail.ts"
import { escapeHtml } from "../core/index.ts"
import { messageColors, renderMailPage } from "./renderMailPage.ts"

/** An email from the service itself, about an account or to confirm an address. */
export interface MailContent {
  readonly to: string
  readonly subject: string
  readonly lines: ReadonlyArray<string>
  readonly link?: { readonly words: string; readonly url: string }
  /** The sentence that tells recipients what to do if they did not expect the email. */
  readonly otherwise: string
}

export const layoutMail = (
  id: string,
  { lines, link, otherwise, subject, to }: MailContent
): Mail => ({
  id,
  to,
  subject,
  text: [...lines, ...(link === undefined ? [] : [link.url]), otherwise].join("\n\n"),
  html: renderMailPage({
    title: subject,
    color: messageColors.other,
    body: [
      ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
      ...(link === undefined
        ? []
        : [`<p><a class="button" href="${escapeHtml(link.url)}">${escapeHtml(link.words)}</a></p>`])
    ].join("\n"),
    footer: `<span class="quiet">${escapeHtml(otherwise)}</span>`
  }),
  headers: {},
  thread: undefined
})
