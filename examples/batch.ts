/** Many tasks in one request, each with its own result: `npx node examples/batch.ts` */
import { demoAccount } from "./support/demo.ts"

const client = await demoAccount()

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

const trials = [
  { user: "ada", ends: inDays(14) },
  { user: "grace", ends: inDays(30) },
  { user: "alan", ends: "yesterday" }
]

const { items } = await client.delayed.createMany(
  {
    items: trials.map(({ ends, user }) => ({
      name: `Trial of ${user} ends`,
      url: `https://api.example.com/trials/${user}/end`,
      run_at: ends
    }))
  },
  // If the request is repeated with this key, it creates no further tasks.
  { idempotencyKey: `trials-${crypto.randomUUID()}` }
)

for (const [at, item] of items.entries()) {
  const user = trials[at]?.user
  if (item.status === 201) {
    console.log(`${user}: will be called at ${item.data.run_at}.`)
  } else {
    const [issue] = item.error.detail.issues ?? []
    console.log(`${user}: ${item.status}, ${issue?.message} at ${issue?.path.join(".")}.`)
  }
}
