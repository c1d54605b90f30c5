/**
 * Keeps many agents' long polls open, in a separate process that implements the agent protocol.
 * Each agent says hello and then repeatedly polls for runs.
 */
import { Agent, request } from "node:http"
import { setTimeout } from "node:timers/promises"

const [url = "", tokens = ""] = process.argv.slice(2)

const connections = new Agent({ keepAlive: true })

const say = <A>(token: string, what: string, body?: object): Promise<A> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body)
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      "content-length": Buffer.byteLength(text)
    }
    const sent = request(`${url}/v1/worker/${what}`, {
      agent: connections,
      method: "POST",
      headers
    })
    sent.on("error", reject).on("response", (response) => {
      let answer = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        answer += chunk
      })
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(answer))
        else reject(new Refused(response.statusCode ?? 0, `${what}: ${answer}`))
      })
    })
    sent.end(text)
  })

const hello = { protocol: 1, version: "0.1.0", host: "bench", slots: 16 }

class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Retries like an agent, unless the session has ended. */
const retryUntilEnded = async <A>(request: () => Promise<A>): Promise<A> => {
  for (let failures = 1; ; failures++) {
    try {
      return await request()
    } catch (error) {
      if (error instanceof Refused && error.status === 409) throw error
      const fullMs = Math.min(5_000, 250 * 2 ** Math.min(failures - 1, 10))
      await setTimeout(fullMs * (0.5 + Math.random() / 2))
    }
  }
}

const holdSession = async (token: string, tellOnline: () => void) => {
  const { session, wait_seconds } = await retryUntilEnded(() =>
    say<{ readonly session: number; readonly wait_seconds: number }>(token, "hello", hello)
  )
  tellOnline()
  const claim = `claim?session=${session}&slots=16&wait_seconds=${wait_seconds}`
  await retryUntilEnded(() => say(token, claim))
  for (;;) await retryUntilEnded(() => say(token, `${claim}&idle=true`))
}

let lost = 0

/**
 * Keeps a session and its long polls open. Starts a new session if one is lost, because the machine
 * can stall for seconds.
 */
const hold = async (token: string, tellOnline: () => void) => {
  for (;;) {
    await holdSession(token, tellOnline).catch(() => {
      lost++
      console.error(`${lost} sessions were lost`)
    })
  }
}

/** The delay between starting agents, so that they do not send heartbeats at the same time. */
const startIntervalMs = 20

const online = new Set<string>()
const all = tokens.split(",")
for (const token of all) {
  void hold(token, () => {
    online.add(token)
    if (online.size === all.length) process.send?.("online")
  })
  await setTimeout(startIntervalMs)
}
