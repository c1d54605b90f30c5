/** A chain of calls that use earlier answers: `npx node examples/chain.ts` */
import { demoAccount, hasEnded, receiver, until } from "./support/demo.ts"

const client = await demoAccount()
await using shop = await receiver(({ headers, method, path }) => {
  console.log(
    `  ${method} ${path}${headers.authorization === undefined ? "" : `, ${headers.authorization}`}`
  )
  if (path === "/login") return { status: 200, body: { token: "t0ken", day: "2026-01-31" } }
  return path.endsWith("/close")
    ? { status: 422, body: { problem: "two orders are open" } }
    : { status: 200 }
})

const chain = await client.chains.create({
  name: "close the day",
  steps: [
    { name: "login", url: `${shop.url}/login`, body: '{"user":"robot"}' },
    {
      name: "close",
      url: `${shop.url}/days/{{ steps.login.body.day }}/close`,
      headers: { authorization: "Bearer {{ steps.login.body.token }}" }
    },
    {
      name: "alarm",
      run_if: "failure",
      url: `${shop.url}/alarm`,
      body: '{"text":"The day was not closed: {{ steps.close.body.problem }}"}'
    },
    { name: "report", url: `${shop.url}/report` }
  ]
})

const { id } = await client.chains.run(chain.id)
const run = await until(() => client.chains.getRun(chain.id, id), hasEnded)
console.log(`The run ${run.status}:`)
for (const { execution, name, status } of run.steps) {
  console.log(
    `  ${name}: ${status}${execution?.status_code == null ? "" : `, responded with ${execution.status_code}`}`
  )
}
