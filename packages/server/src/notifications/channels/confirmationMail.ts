import { layoutMail, type Mail } from "../../mail/index.ts"

/**
 * Creates the email that asks an address's owner whether they want alerts. It contains no text
 * entered by the user who created the channel.
 */
export const confirmationMail = (
  id: string,
  to: string,
  service: string,
  confirm: string
): Mail => {
  const { host } = new URL(service)
  return layoutMail(id, {
    to,
    subject: `Do you want alerts from ${host}?`,
    lines: [
      `Somebody wants to send you alerts from ${host}.`,
      "To receive them, open this link within a week:"
    ],
    link: { words: "Yes, send them", url: confirm },
    otherwise: "If you do not want them, ignore this mail: no other mail will be sent."
  })
}
