import { client } from "../data/client.ts"
import { queryClient, workspacesOptions } from "../data/queries.ts"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { Card, Page } from "../ui/layout/Page.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import * as bounds from "../data/bounds.ts"

export const WelcomePage = () => {
  const navigate = useNavigateAfterAction()
  const form = useForm({
    initial: { name: "" },
    send: async ({ name }) => {
      const { id } = await client.workspaces.create({ name })
      await queryClient.invalidateQueries(workspacesOptions)
      await navigate({ to: "/w/$workspaceId", params: { workspaceId: id } })
    }
  })
  return (
    <Page
      title="New workspace"
      description="A workspace has its own tasks, monitors, keys, members and history."
      width="narrow"
    >
      <Card className="p-5">
        <form className="flex flex-col gap-4" onSubmit={form.submit}>
          <Field label="Name" error={form.errorOf("name")}>
            <Input {...form.text("name")} {...bounds.WorkspaceInput.name} required autoFocus />
          </Field>
          <FormFooter form={form} action="Create workspace" />
        </form>
      </Card>
    </Page>
  )
}
