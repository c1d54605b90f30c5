/** Lays out emails and sends them through the operator's mail server. */
import { Layer } from "effect"
import { AccountMails } from "./AccountMails.ts"
import { Mailer } from "./Mailer.ts"

export { AccountMails } from "./AccountMails.ts"
export type { Mail, SendResult } from "./Mail.ts"
export { Mailer } from "./Mailer.ts"
export { type MailContent, layoutMail } from "./layoutMail.ts"
export { messageColors, renderMailPage } from "./renderMailPage.ts"

export const MailLayer = AccountMails.layer.pipe(Layer.provideMerge(Mailer.layer))
