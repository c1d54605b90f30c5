import type { Workspace } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Card, Facts, Page, Section } from "../ui/layout/Page.tsx"
import { At } from "../ui/values/Time.tsx"
import { tell } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { workspaceChanged, workspaceOptions } from "./queries.ts"
import { SigningSecrets } from "./SigningSecrets.tsx"
import { Only } from "../ui/role.tsx"
import * as bounds from "../data/bounds.ts"

export const SettingsPage = () => {
  const { workspaceId } = useWorkspace()
  return (
    <Loaded query={useQuery(workspaceOptions(workspaceId))} name="Settings" width="narrow">
      {(workspace) => (
        <Page title="Settings" width="narrow" description={`For the workspace ${workspace.name}.`}>
          <div className="flex flex-col gap-10">
            <Section title="Workspace">
              <Card className="flex flex-col gap-5 p-5">
                <NameForm workspace={workspace} />
                <Facts
                  facts={[
                    ["Created", <At key="0" at={workspace.created_at} />],
                    ["Id", <CopyText key="1" text={workspace.id} />]
                  ]}
                />
              </Card>
            </Section>
            <Only role="admin">
              <Section title="Signing secrets">
                <SigningSecrets />
              </Section>
            </Only>
            <Section title="Leave or delete">
              <Ends workspace={workspace} />
            </Section>
          </div>
        </Page>
      )}
    </Loaded>
  )
}

const NameForm = ({ workspace: { id, name } }: { readonly workspace: Workspace }) => {
  const { api } = useWorkspace()
  const form = useForm({
    initial: { name },
    send: async (values) => {
      await api.workspaces.rename(id, values)
      tell(`The workspace is called ${values.name} now`)
      await workspaceChanged(id)
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="Name" error={form.errorOf("name")}>
        <Input {...form.text("name")} {...bounds.WorkspaceInput.name} required />
      </Field>
      <FormEnd form={form} action="Rename" look="plain" needs="admin" />
    </form>
  )
}

const Ends = ({ workspace: { id, name } }: { readonly workspace: Workspace }) => {
  const { api } = useWorkspace()
  const navigate = useNavigate()
  const [asked, ask] = useState<"delete" | "leave">()
  const close = () => ask(undefined)
  const gone = async (said: string) => {
    tell(said)
    await workspaceChanged(id)
    await navigate({ to: "/", replace: true })
  }
  return (
    <Card className="divide-y divide-line">
      <div className="flex flex-wrap items-center justify-between gap-4 p-5">
        <p className="max-w-[26rem] text-soft">
          You lose access to this workspace. The last owner cannot leave.
        </p>
        <Button look="danger" onClick={() => ask("leave")}>
          Leave
        </Button>
      </div>
      <Only role="owner">
        {" "}
        <div className="flex flex-wrap items-center justify-between gap-4 p-5">
          <p className="max-w-[26rem] text-soft">
            Deletes the workspace and everything in it: keys, tasks, monitors and their history.
          </p>
          <Button look="danger" onClick={() => ask("delete")}>
            Delete
          </Button>
        </div>
      </Only>
      <Confirm
        isOpen={asked === "leave"}
        onClose={close}
        title={`Leave ${name}?`}
        action="Leave"
        onConfirm={async () => {
          await api.members.leave()
          await gone(`You have left ${name}`)
        }}
      >
        Only an invitation brings you back. API keys that you made go on working.
      </Confirm>
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete permanently"
        word={name}
        onConfirm={async () => {
          await api.workspaces.remove(id)
          await gone(`${name} was deleted`)
        }}
      >
        All tasks stop, all keys are refused, and the history is gone. There is no way back.
      </Confirm>
    </Card>
  )
}
