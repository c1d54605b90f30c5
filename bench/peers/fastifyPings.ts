/**
 * Heartbeat pings, written by hand as a good engineer would write them: Fastify, `pg`, prepared
 * statements, an UPDATE that finds the monitor and moves its deadline, and an INSERT of the ping.
 * Creates its own tables, with the indexes for finding deadlines and listing events.
 */
import fastify from "fastify"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 })

await pool.query(`
  CREATE TABLE peer_heartbeats (
    ping_id uuid PRIMARY KEY,
    period_seconds integer NOT NULL,
    grace_seconds integer NOT NULL,
    status text NOT NULL DEFAULT 'new',
    last_ping_at timestamptz,
    alert_at timestamptz
  ) WITH (fillfactor = 60);
  CREATE INDEX peer_heartbeats_by_deadline ON peer_heartbeats (alert_at);
  CREATE TABLE peer_pings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ping_id uuid NOT NULL,
    at timestamptz NOT NULL,
    method text NOT NULL,
    ip text NOT NULL,
    user_agent text
  );
  CREATE INDEX peer_pings_by_monitor ON peer_pings (ping_id, id DESC)`)

const app = fastify({ logger: false })

app.get("/ready", () => ({ status: "ok" }))

app.post<{ readonly Body: ReadonlyArray<string> }>(
  "/monitors",
  { bodyLimit: 10_000_000 },
  async ({ body }) => {
    await pool.query(
      `INSERT INTO peer_heartbeats (ping_id, period_seconds, grace_seconds)
       SELECT unnest($1::uuid[]), 86400, 3600`,
      [body]
    )
    return { made: body.length }
  }
)

app.get<{ readonly Params: { readonly ping_id: string } }>(
  "/ping/:ping_id",
  async ({ headers, ip, method, params }, reply) => {
    const { rowCount } = await pool.query({
      name: "hear",
      text: `
        UPDATE peer_heartbeats
        SET status = 'up',
            last_ping_at = now(),
            alert_at = now() + make_interval(secs => period_seconds + grace_seconds)
        WHERE ping_id = $1`,
      values: [params.ping_id]
    })
    if (rowCount === 0) return reply.code(404).type("text/plain").send("not found\n")
    await pool.query({
      name: "record",
      text: `
        INSERT INTO peer_pings (ping_id, at, method, ip, user_agent)
        VALUES ($1, now(), $2, $3, $4)`,
      values: [params.ping_id, method, ip, headers["user-agent"] ?? null]
    })
    return reply.type("text/plain").send("OK\n")
  }
)

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) })
process.on("SIGTERM", () => process.exit(0))
