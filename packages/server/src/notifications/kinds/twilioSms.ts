import { channelConfigs } from "@scheduling/domain/notifications/channelConfigs"
import { httpChannelKind } from "./ChannelKind.ts"
import { bodyLines } from "./Message.ts"
import { truncate } from "../../core/index.ts"
import { basicAuthorization, formBody, formHeaders } from "./fields.ts"

/**
 * Error codes for a number that does not exist, that is not a mobile number, or whose owner replied
 * STOP.
 */
const goneCodes = new Set<unknown>([21_211, 21_614, 21_610])

/**
 * The maximum length of a message: two SMS segments. One character outside the GSM alphabet would
 * more than double the number of segments, and therefore the price.
 */
const maxLength = 300

const toGsmText = (text: string) => text.replaceAll("…", "...").replaceAll(/[^\x0a\x20-\x7e]/g, "?")

export const twilioSms = httpChannelKind({
  kind: "twilio_sms",
  title: "SMS by Twilio",
  config: channelConfigs.twilio_sms,
  secrets: ["auth_token"],
  spacingMs: 1_000,
  request: ({ account_sid, auth_token, from, to }, message) => ({
    method: "POST",
    url: `https://api.twilio.com/2010-04-01/Accounts/${account_sid}/Messages.json`,
    headers: { ...formHeaders, authorization: basicAuthorization(account_sid, auth_token) },
    body: formBody({
      To: to,
      ...(from.startsWith("MG") ? { MessagingServiceSid: from } : { From: from }),
      Body: toGsmText(truncate([message.title, ...bodyLines(message)].join("\n"), maxLength))
    })
  }),
  rules: {
    isGone: ({ json, status }) => status === 401 || goneCodes.has(json["code"]),
    isRetryable: ({ json }) => json["code"] === 20_429
  }
})
