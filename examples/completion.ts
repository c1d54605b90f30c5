/** A job that answers at once and reports its result later: `npx node examples/completion.ts` */
import { setTimeout as sleep } from "node:timers/promises"
import { demoAccount, hasEnded, receiver, until } from "./support/demo.ts"

const client = await demoAccount()

/** Repeats a report after no answer, 429 and 5xx. Other answers are final. */
const report = async (url: string, body: string): Promise<void> => {
  for (let attempt = 1; attempt <= 5; attempt++) {
    const answer = await fetch(url, { method: "POST", body }).catch(() => undefined)
    if (answer !== undefined && answer.status < 429) return
    await sleep(1_000 * attempt)
  }
}

const importRows = async (completeUrl: string) => {
  for (const rows of [20, 40]) {
    await sleep(200)
    await report(`${completeUrl}/log`, `${rows} of 42 rows`)
  }
  await report(completeUrl, JSON.stringify({ rows: 42 }))
}

await using server = await receiver(({ headers }) => {
  void importRows(String(headers["scheduling-complete-url"]))
  return { status: 202 }
})

const { last_run } = await client.delayed.create({
  name: "Import",
  url: server.url,
  delay_seconds: 0,
  completion: "callback",
  timeout_seconds: 3600
})
const id = last_run?.execution_id ?? ""
const get = () => client.executions.get(id)

const waiting = await until(get, (run) => run.awaiting_completion_since !== null)
console.log(
  `It is ${waiting.status}: the target responded with ${waiting.status_code} and will report later.`
)

const { attempts, progress, status } = await until(get, hasEnded)
for (const { text } of progress) console.log(`  ${text}`)
console.log(`It ${status}: ${attempts[0]?.response_body}`)
