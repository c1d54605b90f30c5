import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpKind } from "./Kind.ts"
import { bodyLines } from "./Message.ts"
import { truncate } from "../../core/index.ts"
import { basic, form, formHeaders } from "./fields.ts"

/**
 * Codes for a number that does not exist, that is not a mobile number, or whose owner replied STOP.
 */
const goneCodes = new Set<unknown>([21_211, 21_614, 21_610])

/** Two segments. A single character outside the GSM alphabet would more than double the price. */
const maxLength = 300

const gsm = (text: string) => text.replaceAll("…", "...").replaceAll(/[^\x0a\x20-\x7e]/g, "?")

export const twilioSms = httpKind({
  kind: "twilio_sms",
  title: "SMS by Twilio",
  config: channelConfigs.twilio_sms,
  secrets: ["auth_token"],
  spacingMs: 1_000,
  request: ({ account_sid, auth_token, from, to }, message) => ({
    method: "POST",
    url: `https://api.twilio.com/2010-04-01/Accounts/${account_sid}/Messages.json`,
    headers: { ...formHeaders, authorization: basic(account_sid, auth_token) },
    body: form({
      To: to,
      ...(from.startsWith("MG") ? { MessagingServiceSid: from } : { From: from }),
      Body: gsm(truncate([message.title, ...bodyLines(message)].join("\n"), maxLength))
    })
  }),
  rules: {
    isGone: ({ json, status }) => status === 401 || goneCodes.has(json["code"]),
    isRetryable: ({ json }) => json["code"] === 20_429
  }
})
