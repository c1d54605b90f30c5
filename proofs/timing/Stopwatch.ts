import { Agent, request } from "node:http"

export interface TimedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface TimedResponse {
  readonly status: number
  readonly text: string
  readonly millis: number
}

/**
 * Opens a persistent connection, so that the measured times contain only the server's response
 * time.
 */
export const makeStopwatch = (url: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const take = ({ body, headers, method, path }: TimedRequest) =>
    new Promise<TimedResponse>((resolve, reject) => {
      const start = performance.now()
      const sent = request(url + path, { agent, method, headers }, (response) => {
        let text = ""
        response
          .setEncoding("utf8")
          .on("data", (chunk) => (text += chunk))
          .on("error", reject)
          .on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              millis: performance.now() - start
            })
          )
      })
      sent.on("error", reject).end(body)
    })
  return { take, close: () => agent.destroy() }
}

/** Measures the response times of each kind of request, in shuffled order. */
export const measureResponseTimes = async <Kind extends string>(
  rounds: number,
  runners: Readonly<Record<Kind, (round: number) => Promise<TimedResponse>>>
): Promise<Readonly<Record<Kind, ReadonlyArray<number>>>> => {
  const kinds = Object.keys(runners) as Array<Kind>
  const taken = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Record<
    Kind,
    Array<number>
  >
  const answers = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    for (const kind of shuffled(kinds)) {
      const { millis, status, text } = await runners[kind](round)
      answers.add(`${status} ${text}`)
      taken[kind].push(millis)
    }
  }
  // Clients can already distinguish responses that differ, so their response times would prove
  // nothing.
  if (answers.size !== 1) throw new Error(`the answers differ: ${[...answers].join(" | ")}`)
  return taken
}

const shuffled = <A>(values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .toSorted((left, right) => left.at - right.at)
    .map(({ value }) => value)
