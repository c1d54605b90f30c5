import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { ask } from "../../support/http.ts"
import { chainClientOf } from "../chains/chains.ts"
import { setUpCron } from "../cron/tasks.ts"

type Headers = Readonly<Record<string, string>>

/** A request exactly as its sender sends it. */
export interface TriggerRequest {
  readonly headers: Headers
  readonly body: string
}

interface Signing {
  readonly secret?: string
  readonly seconds: number
  readonly id?: string
}

const hmac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text)

/** Each sender's secret, and how it signs requests. */
export const senders = {
  standard_webhooks: {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    sign: (body: string, { id = "msg_1", seconds, secret }: Signing): Headers => {
      const key = Buffer.from((secret ?? senders.standard_webhooks.secret).slice(6), "base64")
      const signature = hmac(key, `${id}.${seconds}.${body}`).digest("base64")
      return {
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": `v1,${signature}`
      }
    }
  },
  github: {
    secret: "It's a Secret to Everybody",
    sign: (body: string, { id = "1", secret }: Signing): Headers => ({
      "x-github-delivery": id,
      "x-hub-signature-256": `sha256=${hmac(secret ?? senders.github.secret, body).digest("hex")}`
    })
  },
  stripe: {
    secret: "whsec_test_secret",
    sign: (body: string, { seconds, secret }: Signing): Headers => {
      const signature = hmac(secret ?? senders.stripe.secret, `${seconds}.${body}`).digest("hex")
      return { "stripe-signature": `t=${seconds},v1=${signature}` }
    }
  },
  slack: {
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    sign: (body: string, { seconds, secret }: Signing): Headers => {
      const text = `v0:${seconds}:${body}`
      return {
        "x-slack-request-timestamp": String(seconds),
        "x-slack-signature": `v0=${hmac(secret ?? senders.slack.secret, text).digest("hex")}`
      }
    }
  }
} as const

export type Sender = keyof typeof senders

/** Creates a task with a trigger URL. Returns functions that send requests for the trigger. */
export const setUpTrigger = Effect.fnUntraced(function* (
  sender: Sender | null = null,
  kind: "cron" | "chains" = "cron"
) {
  const { cron, key: token, member } = yield* setUpCron
  const { body: task } = yield* kind === "cron"
    ? cron.create()
    : chainClientOf({ ...member, access_token: token }).create()
  const path = `${member.workspace}/${kind}/${task.id}/trigger`
  const set = (input: object) => ask("PUT", path, { token, body: input })
  const { body: trigger } = yield* set(
    sender === null ? {} : { signature: { sender, secret: senders[sender].secret } }
  )
  const url = pathOf(trigger.url)
  return {
    cron,
    member,
    path,
    set,
    task,
    token,
    url,
    act: (method: string, more = "") => ask(method, path + more, { token }),
    send: ({ body, headers }: Partial<TriggerRequest>, to = url) =>
      ask("POST", to, { headers: headers ?? {}, body })
  }
})

export const pathOf = (url: string) => new URL(url).pathname
