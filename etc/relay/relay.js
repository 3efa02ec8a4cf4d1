// The page of index.html, and the service worker that takes the forms of servers that answer by one (Apple): a host of static
// files takes no forms, and so never sees what is in them. What comes is put behind the "#" of the page's own address, which no
// browser sends to a host, and is shown there, to be pasted into `authctl login --flow paste`.
"use strict";

if (typeof document === "undefined") {
    self.addEventListener("install", () => self.skipWaiting());
    self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
    self.addEventListener("fetch", (event) => {
        const { request } = event;
        if (request.method === "POST" && request.mode === "navigate") event.respondWith(readBack(request));
    });
} else {
    window.addEventListener("load", show);
}

async function readBack(request) {
    const fields = new URLSearchParams(await request.formData());
    // 303: what follows is a page, and no form.
    return Response.redirect(`${self.registration.scope}#${fields}`, 303);
}

async function show() {
    const answer = new URLSearchParams(location.hash.slice(1) || location.search);
    if (answer.has("code") || answer.has("error")) {
        const address = location.href;
        // Neither the history nor a bookmark of the page needs it.
        history.replaceState(null, "", location.pathname);
        tell("Back from the sign-in", "Copy this address, and paste it where authctl asks for it:");
        document.getElementById("address").textContent = address;
        document.getElementById("answer").hidden = false;
        document.getElementById("copy").addEventListener("click", () => navigator.clipboard.writeText(address));
        return;
    }
    try {
        await navigator.serviceWorker.register("relay.js");
        await navigator.serviceWorker.ready;
        tell("Ready", "This browser can be sent back here from a sign-in now. Begin it: authctl login ACCOUNT --flow paste");
    } catch (error) {
        tell("This browser cannot be used", `It keeps no service worker for this page (${error.message}), and could take no form.`);
    }
}

function tell(title, text) {
    document.title = title;
    document.getElementById("title").textContent = title;
    document.getElementById("text").textContent = text;
}
