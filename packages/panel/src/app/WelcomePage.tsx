import { useNavigate } from "@tanstack/react-router"
import { client } from "../data/client.ts"
import { queries, workspacesOptions } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { Card, Page } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import * as bounds from "../data/bounds.ts"

/** Makes a workspace. */
export const WelcomePage = () => {
  const navigate = useNavigate()
  const form = useForm({
    initial: { name: "" },
    send: async ({ name }) => {
      const { id } = await client.workspaces.create({ name })
      await queries.invalidateQueries(workspacesOptions)
      await navigate({ to: "/w/$workspaceId", params: { workspaceId: id } })
    }
  })
  return (
    <Page
      title="New workspace"
      description="Each workspace keeps its own tasks, keys and history."
      width="narrow"
    >
      <Card className="p-5">
        <form className="flex flex-col gap-4" onSubmit={form.submit}>
          <Field label="Name" error={form.errorOf("name")}>
            <Input {...form.text("name")} {...bounds.WorkspaceInput.name} required autoFocus />
          </Field>
          <Problem error={form.problem} />
          <div>
            <Button type="submit" look="main" busy={form.isBusy}>
              Create workspace
            </Button>
          </div>
        </form>
      </Card>
    </Page>
  )
}
