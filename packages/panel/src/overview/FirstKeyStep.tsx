import type { Scope } from "@scheduling/sdk"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { queryClient } from "../data/queries.ts"
import { Code, Snippets } from "../ui/values/Code.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import * as bounds from "../data/bounds.ts"

const scopes: ReadonlyArray<Scope> = ["tasks:read", "tasks:write", "executions:read"]

export const FirstKeyStep = () => {
  const { api, workspaceId } = useWorkspace()
  const [key, setKey] = useState<string>()
  const form = useForm({
    initial: { name: "My scripts" },
    send: async ({ name }) => {
      const created = await api.apiKeys.create({ name, scopes, expires_in_days: 90 })
      setKey(created.key)
      await queryClient.invalidateQueries({ queryKey: ["w", workspaceId, "api-keys"] })
    }
  })
  if (key !== undefined) {
    return (
      <div className="flex flex-col gap-4">
        <p>Save this key now. It cannot be shown again.</p>
        <Code label="API key" text={key} />
        <Snippets
          label="Use the key"
          snippets={[
            [
              "curl",
              `curl ${location.origin}/v1/workspaces/${workspaceId}/cron \\\n  -H "authorization: Bearer ${key}"`
            ],
            [
              "TypeScript",
              `import { SchedulingClient } from "@scheduling/sdk"

const client = new SchedulingClient({
  baseUrl: "${location.origin}",
  apiKey: "${key}"
})
console.log((await client.cron.list()).data)`
            ]
          ]}
        />
      </div>
    )
  }
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field
        label="Name"
        hint="The key can read and write tasks and read executions. It expires after 90 days."
        error={form.errorOf("name")}
      >
        <Input {...form.text("name")} {...bounds.ApiKeyInput.name} required />
      </Field>
      <FormFooter form={form} action="Create API key" />
    </form>
  )
}
