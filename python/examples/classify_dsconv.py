"""Trains a network to classify images, on one device or with DistributedDataParallel on many.

    python classify.py --data-path images/ --model resnet18 --mixup-alpha 0.2 --cutmix-alpha 1.0
    torchrun --nproc-per-node 8 classify.py --data-path images/ --model resnet50

The folder holds train/CLASS/*.jpg and val/CLASS/*.jpg.
"""

from __future__ import annotations

import argparse
import os
import time

import dsconv
import torch
import torch.distributed as dist
import torchvision
from torch import nn
from torch.utils import data
from torchvision.transforms import v2

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def transform_train(size):
    return v2.Compose(
        [
            v2.RandomResizedCrop(size, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )


def transform_eval(size):
    return v2.Compose(
        [
            v2.Resize(size * 8 // 7, antialias=True),
            v2.CenterCrop(size),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )


def get_collate_fn(args, num_classes):
    """MixUp and CutMix work on batches, so they run after the samples are collated."""
    mixers = []
    if args.mixup_alpha > 0:
        mixers.append(v2.MixUp(alpha=args.mixup_alpha, num_classes=num_classes))
    if args.cutmix_alpha > 0:
        mixers.append(v2.CutMix(alpha=args.cutmix_alpha, num_classes=num_classes))
    if not mixers:
        return data.default_collate
    mixup_cutmix = v2.RandomChoice(mixers)

    def collate_fn(batch):
        return mixup_cutmix(*data.default_collate(batch))

    return collate_fn


def load_data(args):
    root, tf, tf_test = args.data_path, transform_train(args.crop_size), transform_eval(args.crop_size)
    options = {"batch_size": args.batch_size, "num_workers": args.workers, "pin_memory": args.device != "cpu"}
    dataset = dsconv.Dataset(root, "train")
    collate_fn = get_collate_fn(args, len(dataset.classes))
    data_loader = dsconv.Loader(root, transforms=tf, shuffle=True, split="train", collate_fn=collate_fn, **options)
    data_loader_test = dsconv.Loader(root, transforms=tf_test, split="val", **options)
    return data_loader, data_loader_test


def get_model(name, num_classes):
    if name != "tiny":
        return torchvision.models.get_model(name, num_classes=num_classes)
    layers = []
    for inputs, outputs in ((3, 16), (16, 32)):
        layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, num_classes))


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, args, save):
    model.train()
    start, samples = time.time(), 0
    for i, (image, target) in enumerate(data_loader):
        image, target = image.to(device, non_blocking=True), target.to(device, non_blocking=True)
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        if args.clip_grad_norm is not None:
            nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad_norm)
        optimizer.step()
        samples += len(image)
        if i % args.print_freq == 0:
            rate = samples / (time.time() - start)
            log(f"epoch {epoch} [{i}/{len(data_loader)}] loss {loss.item():.4f} {rate:.0f} images/s")
        if args.save_freq and (i + 1) % args.save_freq == 0:
            save(epoch, f"checkpoint_{epoch}_{i + 1}.pth")


def evaluate(model, criterion, data_loader, device):
    model.eval()
    sums = torch.zeros(3, dtype=torch.float64, device=device)  # of losses, of correct answers, of samples
    with torch.inference_mode():
        for image, target in data_loader:
            image, target = image.to(device, non_blocking=True), target.to(device, non_blocking=True)
            output = model(image)
            correct = (output.argmax(1) == target).sum().item()
            sums += torch.tensor([criterion(output, target).item() * len(image), correct, len(image)], device=device)
    if dist.is_initialized():
        dist.all_reduce(sums)
    loss, correct, samples = sums.tolist()
    if samples != len(data_loader.dataset):
        log(f"{samples:.0f} of {len(data_loader.dataset)} samples were evaluated: some were used twice")
    log(f"test: loss {loss / samples:.4f} acc@1 {100 * correct / samples:.2f}")
    return 100 * correct / samples


def init_distributed_mode(args):
    """Joins the other processes of torchrun."""
    args.distributed = "RANK" in os.environ and "WORLD_SIZE" in os.environ
    args.gpu = int(os.environ.get("LOCAL_RANK", 0))
    if args.device == "cuda":
        torch.cuda.set_device(args.gpu)
    if args.distributed:
        dist.init_process_group(backend="nccl" if args.device == "cuda" else "gloo")


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def log(text):
    if is_main_process():
        print(text, flush=True)


def main(args):
    init_distributed_mode(args)
    log(args)
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    data_loader, data_loader_test = load_data(args)

    model = get_model(args.model, len(data_loader.dataset.classes)).to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=args.label_smoothing)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, args.momentum, weight_decay=args.weight_decay)
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    model_without_ddp = model
    if args.distributed:
        model = nn.parallel.DistributedDataParallel(model, device_ids=[args.gpu] if args.device == "cuda" else None)
        model_without_ddp = model.module

    def save(epoch, name):
        """Saves the state from which the training resumes with this epoch."""
        checkpoint = {
            "model": model_without_ddp.state_dict(),
            "optimizer": optimizer.state_dict(),
            "lr_scheduler": lr_scheduler.state_dict(),
            "epoch": epoch,
            "data_loader": data_loader.state_dict(),
        }
        if args.output_dir and is_main_process():
            torch.save(checkpoint, os.path.join(args.output_dir, name))

    if args.resume:
        checkpoint = torch.load(args.resume, map_location="cpu", weights_only=True)
        model_without_ddp.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        lr_scheduler.load_state_dict(checkpoint["lr_scheduler"])
        args.start_epoch = checkpoint["epoch"]
        data_loader.load_state_dict(checkpoint["data_loader"])

    acc1 = evaluate(model, criterion, data_loader_test, device) if args.test_only else 0.0
    for epoch in range(args.start_epoch, 0 if args.test_only else args.epochs):
        if args.distributed:
            data_loader.sampler.set_epoch(epoch)
        train_one_epoch(model, criterion, optimizer, data_loader, device, epoch, args, save)
        lr_scheduler.step()
        acc1 = evaluate(model, criterion, data_loader_test, device)
        save(epoch + 1, "checkpoint.pth")
    if args.distributed:
        dist.destroy_process_group()
    return acc1


def get_args_parser():
    parser = argparse.ArgumentParser(description="Classification of images")
    parser.add_argument("--data-path", required=True, help="the images")
    parser.add_argument("--model", default="resnet18", help="of torchvision.models, or tiny")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("-b", "--batch-size", default=32, type=int, help="samples per batch, per process")
    parser.add_argument("--epochs", default=90, type=int)
    parser.add_argument("-j", "--workers", default=4, type=int, help="that load the data, per process")
    parser.add_argument("--crop-size", default=224, type=int)
    parser.add_argument("--lr", default=0.1, type=float)
    parser.add_argument("--momentum", default=0.9, type=float)
    parser.add_argument("--weight-decay", default=1e-4, type=float)
    parser.add_argument("--label-smoothing", default=0.0, type=float)
    parser.add_argument("--mixup-alpha", default=0.0, type=float)
    parser.add_argument("--cutmix-alpha", default=0.0, type=float)
    parser.add_argument("--clip-grad-norm", default=None, type=float)
    parser.add_argument("--print-freq", default=10, type=int, help="steps between two lines of the log")
    parser.add_argument("--save-freq", default=0, type=int, help="steps between two checkpoints; 0: one per epoch")
    parser.add_argument("--output-dir", default="", help="for checkpoints")
    parser.add_argument("--resume", default="", help="resume from this checkpoint")
    parser.add_argument("--start-epoch", default=0, type=int)
    parser.add_argument("--test-only", action="store_true")
    parser.add_argument("--seed", default=0, type=int)
    return parser


if __name__ == "__main__":
    main(get_args_parser().parse_args())
