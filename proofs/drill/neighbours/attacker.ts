// A hostile tenant as a separate process: `node attacker.ts <url> <addresses> <attack>...`, where
// `addresses` is the number of its client addresses. It prints `ready` once it is set up, and
// starts when it reads a line from standard input. On SIGTERM, it deletes its accounts.
import { once } from "node:events"
import { setPriority } from "node:os"
import { attacks, type AttackName } from "./attacks.ts"
import { Person } from "./Person.ts"
import { startTargets } from "./targets.ts"

// Run at low priority, because a real attacker would not use the CPU of the service's machine.
setPriority(10)

const [url = "", addresses = "1", ...names] = process.argv.slice(2)
const people: Array<Person> = []

const newcomer = (connections = 8): Person => {
  const at = people.length % Number(addresses)
  const address = `127.${process.pid % 200}.${1 + Math.floor(at / 250)}.${1 + (at % 250)}`
  const person = new Person(url, address, connections)
  people.push(person)
  return person
}

const targets = await startTargets()
const ready = await Promise.all(
  names.map((name) => attacks[name as AttackName]({ url, targets, newcomer }))
)
process.stdout.write("ready\n")
await once(process.stdin, "data")
for (const { goOn } of ready) void goOn()

process.once("SIGTERM", async () => {
  const left = await Promise.all(
    people
      .map((person) => new Person(url, person.address, 1))
      .map(async (fresh, n) => {
        Object.assign(fresh, { email: people[n]?.email, token: people[n]?.token })
        return fresh.leave().catch(() => ({ status: 0 }))
      })
  )
  process.stdout.write(
    `left ${left.filter(({ status }) => status === 204).length} of ${left.length}\n`
  )
  process.exit()
})
