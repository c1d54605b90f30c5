import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import type { TestClient, JsonReply } from "./TestClient.ts"
import type { Targets } from "./targets.ts"

export interface AttackContext {
  readonly url: string
  readonly targets: Targets
  readonly newClient: (connections?: number) => TestClient
}

/** An attack by one tenant that stays within its limits. It continues until the process ends. */
export type Attack = (context: AttackContext) => Promise<{ readonly goOn: () => Promise<void> }>

const forever = async (work: (round: number) => Promise<unknown>): Promise<never> => {
  for (let round = 0; ; round++) {
    // The attack can cause error responses. The pause keeps the attacker from using more CPU than
    // the service.
    await work(round).catch(() => sleep(20))
  }
}

const times = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, index) => make(index))

/** Runs the setup with low concurrency, because the setup is not part of the attack. */
const each = async <A>(
  items: ReadonlyArray<A>,
  width: number,
  act: (item: A) => Promise<unknown>
) => {
  const left = [...items]
  await Promise.all(
    times(width, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await act(item)
    })
  )
}

const daily = "0 3 1 1 *"

/** A chain of nearly one megabyte, with 700 runs that hang in their first step. */
const hugeChain: Attack = async ({ newClient, targets }) => {
  const client = await newClient(8).join()
  const body = "x".repeat(19_000)
  const steps = times(50, (n) => ({
    name: `s${n}`,
    url: targets.hanging,
    timeout_seconds: 900,
    body
  }))
  const chain = await client.make(`${client.workspace}/chains`, { name: "huge", steps })
  const run = () => client.ask("POST", `${client.workspace}/chains/${chain.id}/run`)
  return {
    goOn: async () => {
      await each(
        times(700, () => 0),
        8,
        run
      )
      await forever(async () => {
        await run()
        await sleep(200)
      })
    }
  }
}

/** Delayed tasks with the largest allowed body. A thousand of them are due at the same instant. */
const hugeBodies: Attack = async ({ newClient, targets }) => {
  const client = await newClient(4).join()
  const task = { url: targets.slow, body: "x".repeat(255_000) }
  return {
    goOn: () =>
      forever(async () => {
        const run_at = new Date(performance.timeOrigin + performance.now() + 15_000).toISOString()
        await each(
          times(500, () => 0),
          4,
          () => client.ask("POST", `${client.workspace}/delayed`, { ...task, run_at })
        )
        await sleep(10_000)
      })
  }
}

/**
 * Creates many workspaces, because they are free. Each has runs that hang for as long as possible.
 */
const manyWorkspaces: Attack = async ({ newClient, targets }) => {
  const clients = await Promise.all(times(10, () => newClient(2).join()))
  const task = { name: "hangs", url: targets.hanging, timeout_seconds: 900, schedule: daily }
  const tasks: Array<readonly [TestClient, string]> = []
  await each(clients, 10, async (client) => {
    await each(
      times(99, (n) => n),
      2,
      async (n) => {
        const { id } = await client.make("/v1/workspaces", { name: `w${n}` })
        const made = await client.make(`/v1/workspaces/${id}/cron`, { ...task, overlap: "allow" })
        tasks.push([client, `/v1/workspaces/${id}/cron/${made.id}/run`])
      }
    )
  })
  return {
    goOn: () =>
      forever(async () => {
        await each(times(5, () => tasks).flat(), 10, ([client, run]) => client.ask("POST", run))
      })
  }
}

/** Thousands of tasks that are all due at the start of each minute. */
const fullMinute: Attack = async ({ newClient, targets }) => {
  const clients = await Promise.all(times(12, () => newClient(1).join()))
  const task = { name: "each minute", url: targets.quick, schedule: "* * * * *" }
  await each(
    times(6_000, (n) => n),
    8,
    async (n) => {
      const client = clients[n % clients.length]
      await client?.make(`${client.workspace}/cron`, task)
    }
  )
  return { goOn: () => forever(() => sleep(1_000)) }
}

/** A full queue that is stopped and filled again and again. */
const runawayQueue: Attack = async ({ newClient, targets }) => {
  const client = await newClient(16).join()
  const task = { name: "runaway", url: targets.hanging, timeout_seconds: 900, schedule: daily }
  return {
    goOn: () =>
      forever(async () => {
        const { id } = await client.make(`${client.workspace}/cron`, { ...task, overlap: "queue" })
        const at = `${client.workspace}/cron/${id}`
        await each(
          times(3_000, () => 0),
          16,
          () => client.ask("POST", `${at}/run`)
        )
        await client.ask("POST", `${at}/pause`)
        await client.ask("DELETE", at)
      })
  }
}

/**
 * Requests two-megabyte responses, leaves them unread for a while, and then reads them byte by
 * byte.
 */
const unreadAnswers: Attack = async ({ newClient, targets, url }) => {
  const client = await newClient(4).join()
  const task = { name: "large", url: targets.quick, schedule: daily, body: "x".repeat(200_000) }
  await each(
    times(10, () => 0),
    4,
    () => client.make(`${client.workspace}/cron`, task)
  )
  const { hostname, port } = new URL(url)
  const list =
    `GET ${client.workspace}/cron?limit=100 HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
    `authorization: Bearer ${client.token}\r\n\r\n`
  const askAndNotRead = () =>
    new Promise<void>((resolve) => {
      const socket = connect({
        host: hostname,
        port: Number(port),
        localAddress: client.localAddress
      })
      socket.on("error", () => {}).on("close", () => resolve())
      socket.write(list.repeat(60))
      const drip = setInterval(() => socket.read(1), 100)
      socket.on("close", () => clearInterval(drip))
    })
  return {
    goOn: async () => {
      await Promise.all(times(16, () => forever(askAndNotRead)))
    }
  }
}

const costlyBodies: Attack = async ({ newClient }) => {
  const client = await newClient(20).join()
  const empty = { name: "c", steps: times(4_000, () => ({})) }
  const deep = { name: "c", steps: JSON.parse(`${"[".repeat(4_000)}${"]".repeat(4_000)}`) }
  const wide = { name: "c", steps: times(50, () => "x".repeat(20_000)) }
  const cron = { name: "c", url: "http://x.test/", schedule: "1,".repeat(400_000) }
  const at = (round: number): Promise<JsonReply> =>
    round % 4 === 3
      ? client.ask("POST", `${client.workspace}/cron`, cron)
      : client.ask("POST", `${client.workspace}/chains`, [empty, deep, wide][round % 3])
  return {
    goOn: async () => {
      await Promise.all(times(20, (n) => forever((round) => at(round + n))))
    }
  }
}

/**
 * Opens more connections than the limit. Each sends the head of a request and, 2 s later, an
 * incomplete body, so that every request is rejected.
 */
const manyConnections: Attack = async ({ newClient, url }) => {
  const client = await newClient().join()
  const { hostname, port } = new URL(url)
  const head =
    `POST ${client.workspace}/cron HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
    `authorization: Bearer ${client.token}\r\ncontent-type: application/json\r\n` +
    `content-length: 250000\r\n\r\n`
  const body = `{"name":"${"x".repeat(249_989)}`
  const hold = () =>
    new Promise<void>((resolve) => {
      const socket = connect({
        host: hostname,
        port: Number(port),
        localAddress: client.localAddress
      })
      socket.on("error", () => {}).on("close", () => resolve())
      socket.on("data", () => socket.destroy())
      socket.write(head)
      setTimeout(() => socket.end(body), 2_000)
    })
  return {
    goOn: async () => {
      await Promise.all(times(1_100, () => forever(hold)))
    }
  }
}

/** Logs in with the correct password as fast as the service responds. */
const logins: Attack = async ({ newClient }) => {
  const clients = await Promise.all(times(12, () => newClient(4).join()))
  return {
    goOn: async () => {
      await Promise.all(clients.flatMap((client) => times(4, () => forever(() => client.login()))))
    }
  }
}

/** Targets that send an endless response for as long as the service reads it. */
const endlessAnswers: Attack = async ({ newClient, targets }) => {
  const client = await newClient(4).join()
  const task = { url: targets.endless, timeout_seconds: 900, delay_seconds: 0 }
  return {
    goOn: () =>
      forever(async () => {
        await each(
          times(50, () => 0),
          4,
          () => client.ask("POST", `${client.workspace}/delayed`, task)
        )
        await sleep(500)
      })
  }
}

export const attacks = {
  "huge chain": hugeChain,
  "huge bodies": hugeBodies,
  "many workspaces": manyWorkspaces,
  "full minute": fullMinute,
  "runaway queue": runawayQueue,
  "unread answers": unreadAnswers,
  "costly bodies": costlyBodies,
  "many connections": manyConnections,
  logins,
  "endless answers": endlessAnswers
} as const satisfies Readonly<Record<string, Attack>>

export type AttackName = keyof typeof attacks
