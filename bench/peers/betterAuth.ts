/**
 * Serves the list of cron tasks, protected by better-auth's API keys. `WORKSPACES` is a JSON array
 * of ids. A key is created for each workspace, and `/keys` returns the keys. The setup follows
 * better-auth's documentation for high verification rates: no rate limit, and deferred updates.
 * There is no secondary storage, because the service has none either. With a database, version 1.7
 * defers the removal of expired keys, but still updates a key's row twice before it responds.
 */
import { apiKey } from "@better-auth/api-key"
import { betterAuth, type BetterAuthOptions } from "better-auth"
import { getMigrations } from "better-auth/db/migration"
import fastify from "fastify"
import { Pool } from "pg"
import { cronListSchema, listCronTasks } from "./cronList.ts"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 })

const options = {
  database: pool,
  baseURL: "http://127.0.0.1",
  secret: process.env["APP_SECRET"] ?? "",
  emailAndPassword: { enabled: true },
  telemetry: { enabled: false },
  advanced: { backgroundTasks: { handler: (task) => void task.catch(console.error) } },
  plugins: [apiKey({ enableMetadata: true, rateLimit: { enabled: false }, deferUpdates: true })]
} satisfies BetterAuthOptions

// Run the migrations first, because an instance logs errors about missing tables.
await (await getMigrations(options)).runMigrations()
const auth = betterAuth(options)

const { user } = await auth.api.signUpEmail({
  body: { name: "Bench", email: "bench@example.com", password: "correct horse battery staple" }
})

const keys: Array<string> = []
for (const workspace_id of JSON.parse(process.env["WORKSPACES"] ?? "[]") as Array<string>) {
  const { key } = await auth.api.createApiKey({
    body: {
      userId: user.id,
      name: "Bench",
      metadata: { workspace_id },
      permissions: { cron: ["read"] }
    }
  })
  keys.push(key)
}

const app = fastify({ logger: false })

app.get("/ready", () => ({ status: "ok" }))
app.get("/keys", () => keys)

app.get<{ readonly Params: { readonly workspace_id: string } }>(
  "/v1/workspaces/:workspace_id/cron",
  { schema: { response: { 200: cronListSchema } } },
  async (request, reply) => {
    const { workspace_id } = request.params
    const { key, valid } = await auth.api.verifyApiKey({
      body: {
        key: (request.headers.authorization ?? "").slice("Bearer ".length),
        permissions: { cron: ["read"] }
      }
    })
    if (!valid) return reply.code(401).send()
    if (key?.metadata?.["workspace_id"] !== workspace_id) return reply.code(403).send()
    return listCronTasks(pool, workspace_id)
  }
)

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) })
process.on("SIGTERM", () => process.exit(0))
