import type { Workspace } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { Confirm } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { Card, Facts, Page, Section } from "../ui/layout/Page.tsx"
import { ShortTime } from "../ui/values/Time.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { refetchWorkspace, workspaceOptions } from "./queries.ts"
import { PingKeySection } from "./PingKeySection.tsx"
import { SigningSecrets } from "./SigningSecrets.tsx"
import { RoleGate } from "../ui/role.tsx"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import * as bounds from "../data/bounds.ts"

export const SettingsPage = () => {
  const { workspaceId } = useWorkspace()
  return (
    <LoadedPage query={useQuery(workspaceOptions(workspaceId))} name="Settings" width="narrow">
      {(workspace) => (
        <Page
          title="Settings"
          width="narrow"
          description={`Settings of the workspace ${workspace.name}.`}
        >
          <div className="flex flex-col gap-10">
            <Section title="Workspace">
              <Card className="flex flex-col gap-5 p-5">
                <NameForm workspace={workspace} />
                <Facts
                  facts={{
                    Created: <ShortTime at={workspace.created_at} />,
                    Id: <CopyableText text={workspace.id} />
                  }}
                />
              </Card>
            </Section>
            <RoleGate role="admin">
              <Section title="Stop">
                <StopOrResume workspace={workspace} />
              </Section>
              <Section title="Signing secrets">
                <SigningSecrets />
              </Section>
            </RoleGate>
            <RoleGate role="editor">
              <Section title="Ping key">
                <PingKeySection />
              </Section>
            </RoleGate>
            <Section title="Leave or delete">
              <LeaveOrDelete workspace={workspace} />
            </Section>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const NameForm = ({ workspace: { id, name } }: { readonly workspace: Workspace }) => {
  const { api } = useWorkspace()
  const form = useForm({
    initial: { name },
    send: async (values) => {
      await api.workspaces.update(id, values)
      showSuccessToast(`The workspace was renamed to ${values.name}`)
      await refetchWorkspace(id)
    }
  })
  return (
    <form className="flex flex-col gap-4" onSubmit={form.submit}>
      <Field label="Name" error={form.errorOf("name")}>
        <Input {...form.text("name")} {...bounds.WorkspaceInput.name} required />
      </Field>
      <FormFooter form={form} action="Rename workspace" look="plain" needs="admin" />
    </form>
  )
}

const StopOrResume = ({
  workspace: { id, name, stopped_at }
}: {
  readonly workspace: Workspace
}) => {
  const { api } = useWorkspace()
  const [asks, setAsks] = useState(false)
  const isStopped = stopped_at !== null
  return (
    <Card className="flex flex-wrap items-center justify-between gap-4 p-5">
      <p className="max-w-[26rem] text-soft">
        {isStopped
          ? "No run starts and no schedule fires until the workspace is resumed."
          : "No more runs start on any node or worker. Calls in progress finish, and further steps of chains wait."}
      </p>
      <Button look={isStopped ? "main" : "danger"} onClick={() => setAsks(true)}>
        {isStopped ? "Resume workspace" : "Stop workspace"}
      </Button>
      <Confirm
        isOpen={asks}
        onClose={() => setAsks(false)}
        title={isStopped ? `Resume ${name}?` : `Stop ${name}?`}
        action={isStopped ? "Resume runs" : "Stop all runs"}
        onConfirm={async () => {
          await (isStopped ? api.workspaces.resume() : api.workspaces.stop())
          showSuccessToast(isStopped ? `${name} was resumed` : `${name} was stopped`)
          await refetchWorkspace(id)
        }}
      >
        {isStopped
          ? "Waiting runs start, the most overdue first. Tasks that make up for missed slots run once."
          : "Calls in progress finish. Everything else waits until the workspace is resumed. Monitors and notifications continue."}
      </Confirm>
    </Card>
  )
}

const LeaveOrDelete = ({ workspace: { id, name } }: { readonly workspace: Workspace }) => {
  const { api } = useWorkspace()
  const navigate = useNavigateAfterAction()
  const [asked, ask] = useState<"delete" | "leave">()
  const close = () => ask(undefined)
  const leavePage = async (message: string) => {
    showSuccessToast(message)
    await refetchWorkspace(id)
    await navigate({ to: "/", replace: true })
  }
  return (
    <Card className="divide-y divide-line">
      <div className="flex flex-wrap items-center justify-between gap-4 p-5">
        <p className="max-w-[26rem] text-soft">
          You will lose access to this workspace. The last owner cannot leave.
        </p>
        <Button look="danger" onClick={() => ask("leave")}>
          Leave workspace
        </Button>
      </div>
      <RoleGate role="owner">
        <div className="flex flex-wrap items-center justify-between gap-4 p-5">
          <p className="max-w-[26rem] text-soft">
            Deletes the workspace and everything in it: keys, tasks, monitors and their history.
          </p>
          <Button look="danger" onClick={() => ask("delete")}>
            Delete workspace
          </Button>
        </div>
      </RoleGate>
      <Confirm
        isOpen={asked === "leave"}
        onClose={close}
        title={`Leave ${name}?`}
        action="Leave workspace"
        onConfirm={async () => {
          await api.members.leave()
          await leavePage(`You have left ${name}`)
        }}
      >
        You need a new invitation to come back. API keys that you created keep working.
      </Confirm>
      <Confirm
        isOpen={asked === "delete"}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete permanently"
        word={name}
        onConfirm={async () => {
          await api.workspaces.delete(id)
          await leavePage(`${name} was deleted`)
        }}
      >
        All tasks stop, all keys stop working, and the history is lost. This cannot be undone.
      </Confirm>
    </Card>
  )
}
