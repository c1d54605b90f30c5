import { colors } from "../kindFields.ts"
import type { Mail } from "../Kind.ts"
import { escapeHtml } from "../texts.ts"
import { page } from "./page.ts"

/** A mail that the service writes for itself: about an account, or to ask whether mails are wanted. */
export interface Letter {
  readonly to: string
  readonly subject: string
  readonly lines: ReadonlyArray<string>
  readonly link?: { readonly words: string; readonly url: string }
  /** What to do if the reader expects no such mail. */
  readonly otherwise: string
}

export const letterOf = (id: string, { lines, link, otherwise, subject, to }: Letter): Mail => ({
  id,
  to,
  subject,
  text: [...lines, ...(link === undefined ? [] : [link.url]), otherwise].join("\n\n"),
  html: page({
    title: subject,
    color: colors.other,
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

/** Asks whether somebody wants to get alerts. Nothing in it is written by whoever asks for it. */
export const confirmationOf = (id: string, to: string, service: string, confirm: string): Mail => {
  const { host } = new URL(service)
  return letterOf(id, {
    to,
    subject: `Do you want alerts from ${host}?`,
    lines: [`Somebody wants to send you alerts from ${host}.`, "If you want them, open this link:"],
    link: { words: "Yes, send them", url: confirm },
    otherwise: "If you do not want them, do nothing: no other mail will come."
  })
}
