import { Client } from "pg"

/** The URL of a PostgreSQL server, with a role that is allowed to create databases. */
const server = process.env["BENCH_POSTGRES_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres"

const onServer = async <A>(use: (client: Client) => Promise<A>, url = server): Promise<A> => {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
  } catch (cause) {
    throw new Error(
      `The bench requires a PostgreSQL server on which it may create databases, but cannot reach one at ` +
        `${url}. Start one, or name one in BENCH_POSTGRES_URL.`,
      { cause }
    )
  }
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

let made = 0

export interface Database extends AsyncDisposable {
  readonly url: string
}

export const makeDatabase = async (): Promise<Database> => {
  const name = `scheduling_bench_${process.pid}_${++made}`
  await onServer((client) => client.query(`CREATE DATABASE ${name}`))
  const url = new URL(server)
  url.pathname = name
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      // Uses FORCE, because the measured program may have left a connection open.
      await onServer((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    }
  }
}

export const query = async <Row extends object>(
  url: string,
  text: string,
  values: ReadonlyArray<unknown> = []
): Promise<ReadonlyArray<Row>> =>
  onServer(async (client) => (await client.query<Row>(text, [...values])).rows, url)

export const postgresVersion = async (): Promise<string> =>
  onServer(async (client) => {
    const { rows } = await client.query<{ server_version: string }>("SHOW server_version")
    return rows[0]?.server_version ?? "unknown"
  })
