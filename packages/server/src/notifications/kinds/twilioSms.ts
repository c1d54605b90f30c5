import { Schema } from "effect"
import { httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { cut } from "../../core/index.ts"
import { basic, form, formHeaders, secret, word } from "./fields.ts"

/** Not a number, no mobile number, and one whose owner answered STOP. */
const goneCodes = new Set<unknown>([21_211, 21_614, 21_610])

const phone = /^\+[1-9]\d{6,14}$/

/** Two segments. A single character beyond the GSM alphabet would more than double the price. */
const maxLength = 300

const gsm = (text: string) => text.replaceAll("…", "...").replaceAll(/[^\x0a\x20-\x7e]/g, "?")

export const twilioSms = httpKind({
  kind: "twilio_sms",
  title: "SMS by Twilio",
  config: Schema.Struct({
    account_sid: word(
      "The account: AC…",
      "AC0123456789abcdef0123456789abcdef",
      /^[aA][cC][0-9a-fA-F]{32}$/
    ),
    auth_token: secret(
      "The token of the account",
      "0123456789abcdef0123456789abcdef",
      /^[0-9a-fA-F]{32}$/
    ),
    from: word(
      "The number that sends, or a messaging service: MG…",
      "+14155550123",
      /^(?:\+[1-9]\d{6,14}|[mM][gG][0-9a-fA-F]{32})$/
    ),
    to: word("The number that receives, such as +4915112345678", "+4915112345678", phone)
  }),
  secrets: ["auth_token"],
  spacingMs: 1_000,
  request: ({ account_sid, auth_token, from, to }, message) => ({
    method: "POST",
    url: `https://api.twilio.com/2010-04-01/Accounts/${account_sid}/Messages.json`,
    headers: { ...formHeaders, authorization: basic(account_sid, auth_token) },
    body: form({
      To: to,
      ...(from.startsWith("MG") ? { MessagingServiceSid: from } : { From: from }),
      Body: gsm(cut([message.title, ...bodyLines(message)].join("\n"), maxLength))
    })
  }),
  rules: {
    gone: ({ json, status }) => status === 401 || goneCodes.has(json["code"]),
    again: ({ json }) => json["code"] === 20_429
  }
})
