/** Sends mails through the operator's mail server, and lays them out. */
import { Layer } from "effect"
import { AccountMails } from "./AccountMails.ts"
import { Mailer } from "./Mailer.ts"

export { AccountMails } from "./AccountMails.ts"
export type { Mail, SendResult } from "./Mail.ts"
export { Mailer } from "./Mailer.ts"
export { type MailContent, layoutMail } from "./layoutMail.ts"
export { colors, page } from "./page.ts"

export const MailLayer = AccountMails.layer.pipe(Layer.provideMerge(Mailer.layer))
