import { mount } from "svelte";

import App from "./App.svelte";
import "./page.css";
import { embeddedDocuments } from "./source";

const target = window.document.getElementById("likenew");
if (!target) throw new Error("the page has no element with the id likenew");
mount(App, { target, props: { documents: embeddedDocuments() } });
