/** Mails: the operator's mail server, and how a mail looks. */
import { Layer } from "effect"
import { Letters } from "./Letters.ts"
import { Mailer } from "./Mailer.ts"

export { Letters } from "./Letters.ts"
export type { Mail, SendResult } from "./Mail.ts"
export { Mailer } from "./Mailer.ts"
export { type Letter, letterOf } from "./letterOf.ts"
export { colors, page } from "./page.ts"

export const MailLayer = Letters.layer.pipe(Layer.provideMerge(Mailer.layer))
