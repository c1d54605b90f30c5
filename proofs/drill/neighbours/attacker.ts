// A hostile tenant as a separate process: `node attacker.ts <url> <addresses> <attack>...`, where
// `addresses` is the number of its client addresses. It prints `ready` once it is set up, and
// starts when it reads a line from standard input. On SIGTERM, it deletes its accounts.
import { once } from "node:events"
import { setPriority } from "node:os"
import { attacks, type AttackName } from "./attacks.ts"
import { TestClient } from "./TestClient.ts"
import { startTargets } from "./targets.ts"

// Run at low priority, because a real attacker would not use the CPU of the service's machine.
setPriority(10)

const [url = "", addresses = "1", ...names] = process.argv.slice(2)
const clients: Array<TestClient> = []

const newClient = (connections = 8): TestClient => {
  const at = clients.length % Number(addresses)
  const address = `127.${process.pid % 200}.${1 + Math.floor(at / 250)}.${1 + (at % 250)}`
  const client = new TestClient(url, address, connections)
  clients.push(client)
  return client
}

const targets = await startTargets()
const ready = await Promise.all(
  names.map((name) => attacks[name as AttackName]({ url, targets, newClient }))
)
process.stdout.write("ready\n")
await once(process.stdin, "data")
for (const { goOn } of ready) void goOn()

process.once("SIGTERM", async () => {
  const left = await Promise.all(
    clients
      .map((client) => new TestClient(url, client.localAddress, 1))
      .map(async (fresh, n) => {
        Object.assign(fresh, { email: clients[n]?.email, token: clients[n]?.token })
        return fresh.leave().catch(() => ({ status: 0 }))
      })
  )
  process.stdout.write(
    `left ${left.filter(({ status }) => status === 204).length} of ${left.length}\n`
  )
  process.exit()
})
