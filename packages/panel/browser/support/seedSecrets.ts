import type { SchedulingClient } from "@scheduling/sdk"

/** Creates a secret that tasks use, and an unused secret with many hosts. */
export const seedSecrets = async (client: SchedulingClient): Promise<void> => {
  await client.secrets.upsert("WAREHOUSE_PASSWORD", {
    value: "correct horse battery staple",
    allowed_hosts: ["*.warehouse.example.com", "http://jobs.internal:8080", "api.example.com:8443"]
  })
  await client.secrets.upsert("BILLING_TOKEN", {
    value: "3f9c8d2e",
    allowed_hosts: ["billing.example.com"],
    description: "The token of the billing robot"
  })
  await client.cron.create({
    name: "Pull invoices",
    schedule: "20 4 * * *",
    url: "https://billing.example.com/invoices?day={{ run.scheduled_for.date }}",
    method: "GET",
    auth: { kind: "bearer", token: "{{ secrets.BILLING_TOKEN }}" }
  })
  await client.chains.create({
    name: "Close the books",
    steps: [
      {
        name: "close",
        url: "https://billing.example.com/books/close",
        headers: { "x-token": "Token {{ secrets.BILLING_TOKEN }}" },
        body: '{"run":"{{ run.id }}"}'
      }
    ]
  })
}
