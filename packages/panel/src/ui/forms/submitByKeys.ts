/** Ctrl+Enter and ⌘+Enter press the button of the form, also where Enter alone begins a line. */
export const submitByKeys = (): void =>
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
    if (!(event.target instanceof Element)) return
    // A question in a dialog may be about the form that it is in.
    const form = event.target.closest("form, dialog")
    if (!(form instanceof HTMLFormElement)) return
    event.preventDefault()
    form.querySelector<HTMLButtonElement>("button[type=submit]")?.click()
  })
